use super::{ClientConfig, ServerConfig, Shedding};
use trunkline_core::budget::Rate;
use trunkline_core::limits::{Limits, Windows};

fn of_limits(limits: Limits) -> ServerConfig {
    ServerConfig::default().with_limits(limits)
}

fn of_windows(windows: Windows) -> ServerConfig {
    ServerConfig::default().with_windows(windows)
}

fn of_shedding(shedding: Shedding) -> ServerConfig {
    ServerConfig::default().with_shedding(shedding)
}

#[test]
fn an_option_outside_of_its_range_is_refused_with_its_name_its_value_and_the_range() {
    let (server, limits, windows) = (ServerConfig::default, Limits::default, Windows::default);
    let shedding = Shedding::default;
    let (percent, rate) = (
        |percent| of_shedding(shedding().with_send_budget_percent_max(Some(percent))),
        |burst, per_second| {
            of_shedding(shedding().with_requests_per_address(Some(Rate { burst, per_second })))
        },
    );
    let window = "it must be from 1 to 2147483647";
    let cases = [
        (
            server().with_connections_max(0),
            "connections_max is 0; it must be at least 1",
        ),
        (
            server().with_connections_per_address_max(Some(0)),
            "connections_per_address_max is 0; it must be at least 1, or None",
        ),
        (
            of_limits(limits().with_pipelining(0)),
            "limits.pipelining is 0; it must be at least 1",
        ),
        (
            of_limits(limits().with_requests_per_connection_max(0)),
            "limits.requests_per_connection_max is 0; it must be at least 1",
        ),
        (
            of_windows(windows().with_stream_initial(1 << 31)),
            "windows.stream_initial is 2147483648; it must be from 0 to 2147483647",
        ),
        (
            of_windows(windows().with_stream_max(0)),
            &format!("windows.stream_max is 0; {window}"),
        ),
        (
            of_windows(windows().with_connection(0)),
            &format!("windows.connection is 0; {window}"),
        ),
        (
            of_windows(windows().with_threshold(Some(65_536))),
            "windows.threshold is 65536; it must be below windows.stream_initial, 65536",
        ),
        (
            percent(0),
            "send_budget_percent_max is 0; it must be 1 to 99, or None",
        ),
        (
            percent(100),
            "send_budget_percent_max is 100; it must be 1 to 99, or None",
        ),
        (
            rate(0, 5),
            "requests_per_address is 0 at once and 5 per second; both must be at least 1",
        ),
        (
            rate(5, 0),
            "requests_per_address is 5 at once and 0 per second; both must be at least 1",
        ),
    ];
    for (config, expected) in cases {
        let error = config.freeze_both().err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(expected));
    }
    let client = ClientConfig::default().with_limits(limits().with_requests_per_connection_max(0));
    assert!(client.check().is_err());
}

#[test]
fn the_edges_of_each_range_are_taken() {
    let most = (1 << 31) - 1;
    let limits = Limits::default()
        .with_pipelining(1)
        .with_requests_per_connection_max(1);
    let windows = Windows::default()
        .with_stream_initial(0)
        .with_stream_max(1)
        .with_connection(most);
    for percent in [1, 99] {
        let rate = Rate {
            burst: 1,
            per_second: 1,
        };
        let shedding = Shedding::default()
            .with_send_budget_percent_max(Some(percent))
            .with_requests_per_address(Some(rate));
        let server = ServerConfig::default()
            .with_connections_max(1)
            .with_connections_per_address_max(Some(1))
            .with_limits(limits.clone())
            .with_windows(windows.clone())
            .with_shedding(shedding);
        assert!(server.freeze_both().is_ok());
    }
}
