//! The README shows the actual output of its commands.

mod program;

use program::text;
use sparring::Isa;

/// Seconds differ between runs.
fn without_times(line: &str) -> String {
    let mut words: Vec<_> = line.split(' ').collect();
    for at in 1..words.len() {
        if words[at].trim_end_matches(',') == "s" && words[at - 1].parse::<f64>().is_ok() {
            words[at - 1] = "_";
        }
    }
    words.join(" ")
}

#[test]
fn the_readme_shows_what_commands_print() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let readme = std::fs::read_to_string(format!("{root}/README.md")).expect("the README");
    let shown = readme.split("```console\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a session");
    let commands: Vec<_> = shown.split("$ sparring ").skip(1).collect();
    assert_eq!(commands.len(), 2, "{shown}");
    for command in commands {
        let (line, expected) = command.split_once('\n').expect("a command and its output");
        let arguments: Vec<_> = line.split(' ').map(|word| word.replace("data/", &format!("{root}/data/"))).collect();
        let printed = text(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        // The register sort requires AVX-512.
        let lines = |text: &str| -> Vec<_> {
            let all = Isa::running() == Isa::Avx512;
            text.lines().filter(|line| all || !line.starts_with("chosen:")).map(without_times).collect()
        };
        assert_eq!(lines(&printed), lines(expected), "sparring {line}");
    }
}
