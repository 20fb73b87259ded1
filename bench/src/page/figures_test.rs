use super::{Figures, Metric, Spread};

#[test]
fn the_median_of_an_even_number_lies_between_the_middle_two() {
    let spread = Spread::of([4.0, 1.0, 2.0, 3.0]).unwrap();
    assert_eq!((spread.median, spread.min, spread.max), (2.5, 1.0, 4.0));
    assert_eq!(Spread::of([7.0, 1.0, 2.0]).unwrap().median, 2.0);
    assert_eq!(Spread::of([]), None);
}

#[test]
fn the_csv_has_one_line_per_figure_under_the_agreed_columns() {
    let mut figures = Figures::default();
    figures.add(
        "h2c same core",
        "trunkline",
        Metric::ServerCpu,
        [0.5, 0.4, 0.75],
    );
    figures.add("h2c same core", "absent", Metric::ServerCpu, []);
    assert_eq!(
        figures.csv(),
        "scenario,subject,metric,unit,median,min,max\n\
         h2c same core,trunkline,server CPU per request,us,0.50,0.40,0.75\n"
    );
}
