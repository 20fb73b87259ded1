use super::*;

fn request(authorization: &str) -> Request<()> {
    let request = Request::get("/").header(AUTHORIZATION, authorization);
    request.body(()).expect("a request")
}

#[test]
fn only_the_named_credentials_of_the_scheme_basic_get_further() {
    let policy = AnswerPolicy {
        credentials: Some(BASE64_STANDARD.encode("me:secret")),
        ..AnswerPolicy::default()
    };
    for (authorization, status) in [
        ("Basic bWU6c2VjcmV0", None),
        ("basic  bWU6c2VjcmV0", None),
        ("Basic bWU6c2VjcmV1", Some(401)),
        ("Basic bWU6c2VjcmV0IA==", Some(401)),
        ("Basic ", Some(401)),
        ("Basic", Some(401)),
        ("Bearer bWU6c2VjcmV0", Some(401)),
        ("", Some(401)),
    ] {
        let answer = policy.answer(&request(authorization));
        let answer = answer.map(|response| response.status().as_u16());
        assert_eq!(answer, status, "{authorization:?}");
    }
}

#[test]
fn a_field_that_is_named_twice_is_there_twice_and_replaces_that_of_the_server() {
    let field = |value| (VARY, HeaderValue::from_static(value));
    let policy = AnswerPolicy {
        fields: vec![field("a"), field("b")],
        ..AnswerPolicy::default()
    };
    let mut headers = HeaderMap::from_iter([field("accept-encoding")]);
    policy.finish(&mut headers);
    let values: Vec<_> = headers.get_all(VARY).iter().collect();
    assert_eq!(values, ["a", "b"]);
}
