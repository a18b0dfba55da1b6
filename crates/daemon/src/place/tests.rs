use super::*;

fn facts(given: Option<&str>, is_installed: bool, working: &str) -> Facts {
    Facts { given: given.map(OsString::from), is_installed, working: working.into() }
}

fn of(url: &str, given: Option<&str>, is_installed: bool, working: &str) -> Place {
    place(url, &facts(given, is_installed, working).candidates())
}

#[test]
fn the_state_directory_is_the_units_else_the_installed_one_else_the_working_directory() {
    for (given, is_installed, path, rule) in [
        (Some("/srv/espelho"), true, "/srv/espelho", Rule::Given),
        (Some("/srv/a:/srv/b"), false, "/srv/a", Rule::Given),
        (Some("state"), false, "/home/ana/state", Rule::Given),
        (Some(""), true, "/var/lib/espelho", Rule::Installed),
        (None, true, "/var/lib/espelho", Rule::Installed),
        (None, false, "/home/ana", Rule::Working),
        (Some(""), false, "/home/ana", Rule::Working),
    ] {
        let chosen = facts(given, is_installed, "/home/ana").candidates().remove(0);
        assert_eq!(chosen, StateDirectory { path: path.into(), rule }, "{given:?} {is_installed}");
    }
}

#[test]
fn a_relative_address_means_a_file_in_the_state_directory_and_others_stay_as_they_are() {
    for (url, given, meant) in [
        ("sqlite:espelho.db", None, "sqlite:/var/lib/espelho/espelho.db"),
        ("sqlite://espelho.db?mode=rwc", None, "sqlite:/var/lib/espelho/espelho.db?mode=rwc"),
        ("sqlite:um%20dois.db", None, "sqlite:/var/lib/espelho/um%20dois.db"),
        ("sqlite:espelho.db", Some("/"), "sqlite:/espelho.db"),
        ("sqlite:espelho.db", Some("/srv/100%?"), "sqlite:/srv/100%25%3F/espelho.db"),
        ("sqlite:/srv/m.db", None, "sqlite:/srv/m.db"),
        ("sqlite:///srv/m.db", None, "sqlite:///srv/m.db"),
        ("postgres://erp@db/m", None, "postgres://erp@db/m"),
        ("sqlite::memory:", None, "sqlite::memory:"),
        ("mysql://erp@db/m", None, "mysql://erp@db/m"),
    ] {
        let place = of(url, given, true, "/home/ana");
        assert_eq!(place.url, meant, "{url} {given:?}");
        // The address and the checked file are the same place.
        if let Some((file, _)) = &place.file {
            assert_eq!(Store::file_named_by(&place.url).as_ref(), Some(file), "{url}");
        }
    }
}

#[test]
fn the_other_places_are_those_that_the_rule_has_passed_over() {
    let others = |given, is_installed, working| {
        let others = of("sqlite:m.db", given, is_installed, working).others;
        others.iter().map(|other| other.display().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(others(Some("/srv"), true, "/home"), ["/var/lib/espelho/m.db", "/home/m.db"]);
    assert_eq!(others(None, true, "/home"), ["/home/m.db"]);
    assert_eq!(others(Some("/srv"), false, "/srv"), [""; 0]);
    assert_eq!(others(None, true, INSTALLED), [""; 0]);
    assert_eq!(of("sqlite:/srv/m.db", Some("/srv"), true, "/home").others, [""; 0].map(PathBuf::from));
}

fn refused(refusal: Result<(), Refusal>) -> Option<(Trouble, String, String)> {
    let problem = refusal.err()?.problem();
    assert!(!problem.hint().is_empty(), "{problem:?}");
    Some((problem.trouble, problem.code, problem.error))
}

#[test]
fn a_database_that_is_not_there_is_told_with_the_place_and_the_rule() {
    let place = of("sqlite:espelho.db", None, false, "/home/ana");
    assert_eq!(refused(place.readable(&Found::File)), None);
    let (trouble, code, error) = refused(place.readable(&Found::Nothing)).unwrap();
    assert_eq!((trouble, code.as_str()), (Trouble::Failure, "no_database"));
    assert!(error.contains("/home/ana/espelho.db") && error.contains("working directory"), "{error}");
    let rules = [(Some("/srv"), true, "STATE_DIRECTORY"), (None, true, "/var/lib/espelho")];
    for (given, is_installed, words) in rules {
        let place = of("sqlite:espelho.db", given, is_installed, "/home/ana");
        let (_, _, error) = refused(place.readable(&Found::Nothing)).unwrap();
        assert!(error.contains(words), "{error}");
    }
    let absolute = of("sqlite:/srv/m.db", None, true, "/home/ana");
    assert!(refused(absolute.readable(&Found::Nothing)).unwrap().2.contains("/srv/m.db"));
    assert_eq!(refused(of("postgres://db/m", None, true, "/").readable(&Found::Nothing)), None);
}

#[test]
fn no_second_database_is_made_beside_one_that_could_be_meant() {
    let place = of("sqlite:espelho.db", None, true, "/home/ana");
    let other = Path::new("/home/ana/espelho.db");
    assert_eq!(refused(place.usable(&Found::File, Some(other))), None);
    assert_eq!(refused(place.usable(&Found::Nothing, None)), None);
    let (trouble, code, error) = refused(place.usable(&Found::Nothing, Some(other))).unwrap();
    assert_eq!((trouble, code.as_str()), (Trouble::Configuration, "other_database"));
    assert!(
        error.contains("/var/lib/espelho/espelho.db") && error.contains("/home/ana/espelho.db"),
        "{error}"
    );
}

#[test]
fn who_may_not_look_is_told_that_and_not_that_nothing_is_there() {
    let place = of("sqlite:espelho.db", None, true, "/home/ana");
    let found = Found::Denied("/var/lib/espelho/espelho.db".into());
    for refusal in [place.readable(&found), place.usable(&found, None)] {
        let (trouble, code, error) = refused(refusal).unwrap();
        assert_eq!((trouble, code.as_str()), (Trouble::Failure, "permission_denied"));
        assert!(error.contains("/var/lib/espelho/espelho.db"), "{error}");
    }
}

#[test]
fn other_relative_paths_begin_at_the_state_directory_else_beside_an_absolute_database() {
    let state = |rule| StateDirectory { path: PathBuf::from("/here"), rule };
    for (url, rule, expected) in [
        ("sqlite:/data/espelho.db", Rule::Working, "/data"),
        ("sqlite:/data/espelho.db", Rule::Given, "/here"),
        ("sqlite:/data/espelho.db", Rule::Installed, "/here"),
        ("sqlite:data/espelho.db", Rule::Working, "/here"),
        ("postgres://user@host/db", Rule::Working, "/here"),
    ] {
        let base = place(url, &[state(rule)]).base_in(state(rule));
        assert_eq!(base, Path::new(expected), "{url} {rule:?}");
    }
}

#[test]
fn a_new_configuration_names_an_absolute_file_where_no_state_directory_gives_a_relative_one_its_place() {
    for (url, rule, expected) in [
        ("sqlite:espelho.db", Rule::Working, "sqlite:/home/ana/loja/espelho.db"),
        ("sqlite://espelho.db", Rule::Working, "sqlite:/home/ana/loja/espelho.db"),
        ("sqlite:/srv/m.db", Rule::Working, "sqlite:/srv/m.db"),
        ("postgres://erp@db/m", Rule::Working, "postgres://erp@db/m"),
        ("sqlite:espelho.db", Rule::Installed, "sqlite:/home/ana/loja/espelho.db"),
        ("sqlite:espelho.db", Rule::Given, "sqlite:espelho.db"),
    ] {
        assert_eq!(settled(url, Path::new("/home/ana/loja"), rule), expected, "{url} {rule:?}");
    }
    let installed = settled("sqlite:espelho.db", Path::new("/etc/espelho"), Rule::Installed);
    assert_eq!(installed, "sqlite:espelho.db", "its place is that of the installed service");
}
