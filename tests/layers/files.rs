//! The dependency graph of a package's files, parsed from the source.
//!
//! A file depends on the file that defines an item it names; re-exports in a `mod.rs` are followed. Paths resolve as in
//! the compiler: `crate`, `super`, `self`, modules, imports, re-exports, globs. Test modules, comments and `$crate`
//! paths of macros do not count.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

/// The modules of a package by their paths; the root is the empty path.
pub(crate) struct Package {
    modules: BTreeMap<Vec<String>, Module>,
    /// Exported macros live at the root, wherever they are defined.
    macros: BTreeMap<String, Vec<String>>,
}

struct Module {
    file: String,
    uses: Vec<Use>,
    /// Defined names.
    defined: BTreeSet<String>,
    /// Tokens, without imports.
    body: Vec<String>,
}

/// One name of an import.
struct Use {
    path: Vec<String>,
    /// Its local name; `*` for all.
    name: String,
    public: bool,
}

/// Maximum depth of chained imports.
const DEEPEST: usize = 12;

/// The target of a path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Module(Vec<String>),
    /// An item defined in the file of this module.
    Item(Vec<String>),
}

/// File → the files that it depends on.
pub(crate) type Graph = BTreeMap<String, BTreeSet<String>>;

impl Package {
    /// The package with its sources in `folder`.
    pub(crate) fn read(folder: &Path) -> Self {
        let files: Vec<(String, String)> = super::sources(folder)
            .into_iter()
            .map(|file| {
                let name = file.strip_prefix(folder).expect("inside the folder").to_string_lossy().replace('\\', "/");
                (name, std::fs::read_to_string(&file).expect("source text"))
            })
            .collect();
        Self::of(files.iter().map(|(name, text)| (name.as_str(), text.as_str())))
    }

    /// The package of these files, given by name and text.
    pub(crate) fn of<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let (mut modules, mut macros) = (BTreeMap::new(), BTreeMap::new());
        for (file, text) in files {
            let mut path: Vec<String> = file.trim_end_matches(".rs").split('/').map(String::from).collect();
            if path.last().is_some_and(|p| p == "tests") {
                continue;
            }
            if path.last().is_some_and(|p| ["mod", "lib", "main"].contains(&p.as_str())) {
                path.pop();
            }
            let tokens = tokens(&super::code(text));
            for (at, pair) in tokens.windows(2).enumerate() {
                if pair[0] == "macro_rules" && tokens[..at].ends_with(&["macro_export", "]"].map(String::from)) {
                    macros.insert(tokens[at + 2].clone(), path.clone());
                }
            }
            let (uses, body) = imports(tokens);
            modules.insert(path, Module { file: file.to_owned(), uses, defined: defined(&body), body });
        }
        Self { modules, macros }
    }

    /// The dependency graph of the files.
    pub(crate) fn graph(&self) -> Graph {
        self.modules.iter().map(|(path, module)| (module.file.clone(), self.dependencies(path, module))).collect()
    }

    fn dependencies(&self, path: &[String], module: &Module) -> BTreeSet<String> {
        let words: BTreeSet<&str> = module.body.iter().map(String::as_str).collect();
        let mut found = BTreeSet::new();
        for one in &module.uses {
            if one.name == "*" {
                // Of a glob import, only the names used here count.
                if let Some(Target::Module(from)) = self.resolve(path, &one.path, 0) {
                    found.extend(words.iter().filter_map(|word| self.item(&from, word, true, 0)));
                }
            } else if !one.public || words.contains(one.name.as_str()) {
                found.extend(self.resolve(path, &one.path, 0));
            }
        }
        for named in paths(&module.body) {
            found.extend(self.resolve(path, &named, 0));
        }
        let files = found.into_iter().filter_map(|target| match target {
            Target::Item(owner) if owner != path => Some(self.modules[&owner].file.clone()),
            _ => None,
        });
        files.collect()
    }

    /// The target of `named`, seen from the module `from`; `None` for other packages.
    fn resolve(&self, from: &[String], named: &[String], depth: usize) -> Option<Target> {
        // Globs may import each other in a cycle; the depth is limited for names defined in neither.
        if depth > DEEPEST {
            return None;
        }
        let (mut module, mut rest) = (from.to_vec(), named);
        match named[0].as_str() {
            "crate" => (module, rest) = (vec![], &named[1..]),
            "self" => rest = &named[1..],
            "super" => {
                while rest.first().is_some_and(|word| word == "super") {
                    module.pop();
                    rest = &rest[1..];
                }
            }
            first => {
                // A submodule or an import.
                if !self.modules.contains_key(&child(from, first)) {
                    let import = self.modules[from].uses.iter().find(|u| u.name == first && u.path[0] != first)?;
                    let whole: Vec<_> = import.path.iter().chain(&named[1..]).cloned().collect();
                    return self.resolve(from, &whole, depth + 1);
                }
            }
        }
        while let Some((word, more)) = rest.split_first() {
            let below = child(&module, word);
            if self.modules.contains_key(&below) {
                (module, rest) = (below, more);
            } else if let Some(target) = self.item(&module, word, false, depth + 1) {
                return match target {
                    Target::Module(path) if !more.is_empty() => {
                        let whole: Vec<_> = ["crate".to_owned()].into_iter().chain(path).chain(more.to_vec()).collect();
                        self.resolve(from, &whole, depth + 1)
                    }
                    target => Some(target),
                };
            } else {
                // Generated by a macro, or an associated item: defined here, unless it was imported from another
                // package.
                let import = self.modules[&module].uses.iter().any(|u| u.name == *word);
                return (!import && !module.is_empty()).then_some(Target::Item(module));
            }
        }
        Some(Target::Module(module))
    }

    /// Where the item `word` of a module is defined: there, or behind its imports; only public imports for a `glob`.
    fn item(&self, module: &[String], word: &str, glob: bool, depth: usize) -> Option<Target> {
        if module.is_empty()
            && let Some(home) = self.macros.get(word)
        {
            return Some(Target::Item(home.clone()));
        }
        let this = &self.modules[module];
        if let Some(import) = this.uses.iter().find(|u| u.name == word && (u.public || !glob)) {
            // An import of a bare name refers to another package.
            return (import.path != [word]).then(|| self.resolve(module, &import.path, depth + 1)).flatten();
        }
        if this.defined.contains(word) {
            return Some(Target::Item(module.to_vec()));
        }
        this.uses.iter().filter(|u| u.name == "*" && u.public).find_map(|glob| {
            match self.resolve(module, &glob.path, depth + 1) {
                Some(Target::Module(from)) if from != module => self.item(&from, word, true, depth + 1),
                _ => None,
            }
        })
    }
}

fn child(module: &[String], name: &str) -> Vec<String> {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

/// Words and punctuation of the text; `::` is one token, and strings are skipped.
fn tokens(code: &str) -> Vec<String> {
    let mut tokens = vec![];
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_alphanumeric() || c == '_' {
            let mut word = String::from(c);
            while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                word.push(c);
            }
            tokens.push(word);
        } else if c == '"' {
            while let Some(c) = chars.next() {
                match c {
                    '\\' => drop(chars.next()),
                    '"' => break,
                    _ => {}
                }
            }
        } else if c == '\'' {
            // A character literal or a lifetime.
            let mut ahead = chars.clone();
            match (ahead.next(), ahead.next()) {
                (Some('\\'), _) => {
                    chars.next();
                    chars.next();
                    while chars.next().is_some_and(|c| c != '\'') {}
                }
                (Some(_), Some('\'')) => chars = ahead,
                _ => {}
            }
        } else if c == ':' && chars.next_if_eq(&':').is_some() {
            tokens.push("::".into());
        } else if !c.is_whitespace() {
            tokens.push(c.into());
        }
    }
    tokens
}

/// The imports among the tokens, and the remaining tokens.
fn imports(tokens: Vec<String>) -> (Vec<Use>, Vec<String>) {
    let (mut uses, mut body) = (vec![], Vec::<String>::new());
    let mut rest = tokens.into_iter();
    while let Some(token) = rest.next() {
        let begins = body.last().is_none_or(|last| [";", "}", "{", "]", ")", "pub"].contains(&last.as_str()));
        if token == "use" && begins {
            let list: Vec<String> = rest.by_ref().take_while(|t| t != ";").collect();
            // `pub use`, `pub(crate) use`.
            let public = body.ends_with(&["pub".into()]) || (body.ends_with(&[")".into()]) && opens_with_pub(&body));
            tree(&mut list.iter().map(String::as_str).peekable(), &[], public, &mut uses);
        } else {
            body.push(token);
        }
    }
    (uses, body)
}

/// Whether the parenthesized list that ends here belongs to `pub(crate)` or `pub(in a::b)`.
fn opens_with_pub(body: &[String]) -> bool {
    body.iter().rposition(|t| t == "(").is_some_and(|at| at > 0 && body[at - 1] == "pub")
}

/// The names of one import, or of one branch of it.
fn tree<'a>(
    tokens: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    before: &[String],
    public: bool,
    uses: &mut Vec<Use>,
) {
    let mut path = before.to_vec();
    let mut name = None;
    while let Some(token) = tokens.next_if(|t| *t != "," && *t != "}") {
        match token {
            "::" => {}
            "{" => {
                while tokens.peek().is_some_and(|t| *t != "}") {
                    tree(tokens, &path, public, uses);
                    tokens.next_if_eq(&",");
                }
                tokens.next();
                return;
            }
            "as" => name = tokens.next().map(String::from),
            "*" => name = Some("*".into()),
            "self" if !path.is_empty() => {}
            word => path.push(word.into()),
        }
    }
    if let Some(last) = path.last() {
        let name = name.unwrap_or_else(|| last.clone());
        uses.push(Use { path, name, public });
    }
}

/// All paths `a::b::c` of the text, up to the first token that is not a name.
fn paths(body: &[String]) -> Vec<Vec<String>> {
    let is_name = |t: &str| t.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let mut found = vec![];
    let mut at = 0;
    while at < body.len() {
        let first = at == 0 || (body[at - 1] != "::" && body[at - 1] != "$");
        at += 1;
        if !first || !is_name(&body[at - 1]) || body.get(at).is_none_or(|t| t != "::") {
            continue;
        }
        let mut path = vec![body[at - 1].clone()];
        while at + 1 < body.len() && body[at] == "::" && is_name(&body[at + 1]) {
            path.push(body[at + 1].clone());
            at += 2;
        }
        found.push(path);
    }
    found
}

/// The names that the text defines, directly or through a macro such as `op!`, which writes `pub Name` too.
fn defined(body: &[String]) -> BTreeSet<String> {
    const KINDS: [&str; 9] = ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "mod"];
    const WORDS: [&str; 6] = ["unsafe", "extern", "async", "use", "(", "crate"];
    let names = (1..body.len()).filter(|&at| {
        let (before, name) = (body[at - 1].as_str(), body[at].as_str());
        let named = KINDS.contains(&before)
            || before == "pub"
            || (before == ")" && opens_with_pub(&body[..at]))
            || (before == "!" && at > 1 && body[at - 2] == "macro_rules");
        named && !KINDS.contains(&name) && !WORDS.contains(&name)
    });
    names.map(|at| body[at].clone()).collect()
}

/// A shortest cycle; `None` if there is none.
pub(crate) fn cycle(graph: &Graph) -> Option<Vec<String>> {
    graph.keys().filter_map(|file| path(graph, file, file)).min_by_key(Vec::len)
}

/// The shortest path from `from` to `to` with at least one step, both ends included.
pub(crate) fn path(graph: &Graph, from: &str, to: &str) -> Option<Vec<String>> {
    let mut came = BTreeMap::<&str, &str>::new();
    let mut next = VecDeque::from([from]);
    while let Some(file) = next.pop_front() {
        for other in graph.get(file)? {
            if other == to {
                let mut path = vec![to.to_owned(), file.to_owned()];
                let mut at = file;
                while at != from {
                    at = came[at];
                    path.push(at.to_owned());
                }
                path.reverse();
                return Some(path);
            }
            if other != from && !came.contains_key(other.as_str()) {
                came.insert(other, file);
                next.push_back(other);
            }
        }
    }
    None
}
