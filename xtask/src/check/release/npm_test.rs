use super::judge;

const FINE: &str =
    "\tDLL Name: KERNEL32.dll\n\tDLL Name: ws2_32.DLL\n[   0] napi_register_module_v1\n";

#[test]
fn an_addon_that_imports_from_a_program_or_has_no_entry_is_refused() {
    assert_eq!(judge(FINE), Ok(()));
    let named = format!("\tDLL Name: node.exe\n{FINE}");
    assert!(judge(&named).is_err_and(|why| why.contains("node.exe")));
    assert!(judge(&FINE.replace("napi_register", "register")).is_err());
}
