//! Formulas as expression graphs.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Function, HostCall};
use crate::algebra::{Constant, Type};
use crate::{Error, Result};

/// A scalar formula as data: parameters, constants, and functions of them, each with its type.
///
/// Formulas are equal if their graphs are, with or without `let`: a repeated subexpression is one node. `a + b` and
/// `b + a` are different formulas.
/// ```
/// use sparring::algebra::{Formula, SquaredDiff, Type};
/// let f = Formula::of_binary(SquaredDiff::<f64>::new());
/// assert_eq!((f.ty(), f.reads("a")), (Type::F64, true));
/// ```
#[derive(Clone)]
pub struct Formula(pub(super) Arc<Graph>);

/// A parameter: its name and its type.
pub type Parameter = (Cow<'static, str>, Type);

pub(super) struct Graph {
    pub(super) parameters: Vec<Parameter>,
    /// Operands precede their node, in the order in which the result requires them; the last node is the result.
    pub(super) nodes: Vec<Node>,
    /// The nodes in the order of their creation, which the printed formula preserves.
    pub(super) creation_order: Vec<usize>,
}

/// A node of a formula.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) ty: Type,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A parameter, by position.
    Parameter(usize),
    Constant(Constant),
    Call(Function, Operands),
    /// A custom host function.
    Host(HostCall, Operands),
}

impl Kind {
    /// The operands of the node.
    pub(crate) fn operands(&self) -> &[usize] {
        match self {
            Kind::Call(_, operands) | Kind::Host(_, operands) => operands,
            Kind::Parameter(_) | Kind::Constant(_) => &[],
        }
    }
}

/// Maximum number of operands of a function.
pub(crate) const MOST: usize = 4;

/// Up to [`MOST`] operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Operands {
    at: [usize; MOST],
    len: usize,
}

impl Operands {
    pub(crate) fn new(nodes: &[usize]) -> Self {
        let mut at = [0; MOST];
        at[..nodes.len()].copy_from_slice(nodes);
        Self { at, len: nodes.len() }
    }
    fn map(mut self, f: impl Fn(usize) -> usize) -> Self {
        self.at[..self.len].iter_mut().for_each(|x| *x = f(*x));
        self
    }
}
impl std::ops::Deref for Operands {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.at[..self.len]
    }
}

/// A formula under construction; equal expressions share a node.
#[derive(Default)]
pub(crate) struct Builder {
    parameters: Vec<Parameter>,
    nodes: Vec<Node>,
}

impl Builder {
    pub(crate) fn new(parameters: Vec<Parameter>) -> Self {
        Self { parameters, nodes: Vec::new() }
    }
    pub(crate) fn ty(&self, node: usize) -> Type {
        self.nodes[node].ty
    }
    /// The parameter of this name.
    pub(crate) fn parameter(&mut self, name: &str) -> Option<usize> {
        let index = self.parameters.iter().position(|p| p.0 == name)?;
        let ty = self.parameters[index].1;
        Some(self.add(Node { kind: Kind::Parameter(index), ty }))
    }
    pub(crate) fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }
    pub(crate) fn constant(&mut self, c: Constant) -> usize {
        let ty = c.ty();
        self.add(Node { kind: Kind::Constant(c), ty })
    }
    pub(crate) fn call(&mut self, function: Function, operands: &[usize], ty: Type) -> usize {
        self.add(Node { kind: Kind::Call(function, Operands::new(operands)), ty })
    }
    pub(crate) fn host(&mut self, call: HostCall, operands: &[usize], ty: Type) -> usize {
        self.add(Node { kind: Kind::Host(call, Operands::new(operands)), ty })
    }
    fn add(&mut self, node: Node) -> usize {
        self.nodes.iter().position(|n| *n == node).unwrap_or_else(|| {
            self.nodes.push(node);
            self.nodes.len() - 1
        })
    }
    /// The formula whose result is this node, without unused nodes.
    pub(crate) fn finish(self, result: usize) -> Formula {
        let mut place = vec![usize::MAX; self.nodes.len()];
        let (mut nodes, mut old) = (Vec::new(), Vec::new());
        // Postorder, operands from left to right; without recursion, for formulas of any depth.
        let mut todo = vec![(result, false)];
        while let Some((n, ready)) = todo.pop() {
            if place[n] != usize::MAX {
                continue;
            }
            let Node { kind, ty } = &self.nodes[n];
            let kind = match kind {
                Kind::Call(_, operands) | Kind::Host(_, operands) if !ready => {
                    todo.push((n, true));
                    todo.extend(operands.iter().rev().map(|&o| (o, false)));
                    continue;
                }
                Kind::Call(f, operands) => Kind::Call(*f, operands.map(|o| place[o])),
                Kind::Host(f, operands) => Kind::Host(f.clone(), operands.map(|o| place[o])),
                other => other.clone(),
            };
            place[n] = nodes.len();
            nodes.push(Node { kind, ty: *ty });
            old.push(n);
        }
        let mut creation_order: Vec<usize> = (0..nodes.len()).collect();
        creation_order.sort_unstable_by_key(|&n| old[n]);
        Formula(Arc::new(Graph { parameters: self.parameters, nodes, creation_order }))
    }
}

impl Formula {
    /// Type of the result.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.0.nodes[self.0.nodes.len() - 1].ty
    }
    /// Names and types of the parameters, read or not.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.0.parameters
    }
    /// Whether the result depends on the parameter of this name.
    #[must_use]
    pub fn reads(&self, name: &str) -> bool {
        let read = |n: &Node| matches!(n.kind, Kind::Parameter(p) if self.0.parameters[p].0 == name);
        self.0.nodes.iter().any(read)
    }
    /// The value, if the formula is a constant node.
    #[must_use]
    pub fn constant(&self) -> Option<Constant> {
        match self.0.nodes.as_slice() {
            [Node { kind: Kind::Constant(c), .. }] => Some(c.clone()),
            _ => None,
        }
    }
    /// The call of a custom host function with the parameters of these names, in this order.
    ///
    /// ```
    /// use sparring::algebra::{Blocks, Formula, HostCall, Input, Slice, SliceMut, Type};
    /// let hypot = HostCall::binary("hypot", f64::hypot);
    /// let f = Formula::of_host(hypot, &[("a".into(), Type::F64), ("b".into(), Type::F64)], &["a", "b"])?;
    /// assert_eq!((f.to_string(), f.host_function()), ("hypot(a, b)".to_string(), Some("hypot")));
    /// let blocks = Blocks::new(&f)?;
    /// let mut out = [0.0; 2];
    /// let inputs = [Input::Scalar(Slice::of(&[3.0])), Input::Values(Slice::of(&[4.0, 0.0]))];
    /// blocks.run(&inputs, &mut blocks.scratch()?, &mut SliceMut::of(&mut out))?;
    /// assert_eq!(out, [5.0, 3.0]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Argument`] if a name is not a parameter of the required type, or the function has no operands or more
    /// than four.
    pub fn of_host(call: HostCall, parameters: &[Parameter], operands: &[&str]) -> Result<Self> {
        let wrong = |message| Error::Argument { name: "operands", message };
        let (takes, found) = (call.takes().len(), operands.len());
        if takes != found || takes == 0 || takes > MOST {
            let name = call.name();
            return Err(wrong(format!(
                "{name} takes {takes}, of 1 to {MOST} that a function may have; {found} are given"
            )));
        }
        let mut builder = Builder::new(parameters.to_vec());
        let mut of = Vec::with_capacity(found);
        for (name, ty) in operands.iter().zip(call.takes()) {
            let node = builder.parameter(name).filter(|&node| builder.ty(node) == *ty);
            of.push(node.ok_or_else(|| wrong(format!("{} takes {ty}, and {name} is no such parameter", call.name())))?);
        }
        let ty = call.ty();
        let result = builder.host(call, &of, ty);
        Ok(builder.finish(result))
    }
    /// The name of a custom host function, if the formula calls one.
    #[must_use]
    pub fn host_function(&self) -> Option<&str> {
        self.nodes().iter().find_map(|n| if let Kind::Host(call, _) = &n.kind { Some(call.name()) } else { None })
    }
    /// Number of parameters read, constants and functions.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.nodes.len()
    }
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.0.nodes
    }
    /// The same formula over another list of parameters, matched by name; `None` if a parameter that it reads is
    /// missing.
    #[must_use]
    pub(crate) fn over(&self, parameters: &[Parameter]) -> Option<Self> {
        self.renamed(parameters, |name| name)
    }
    /// The formula with x + d substituted for each listed parameter x of type u64 with its offset d: a positional
    /// operator on a block of a matrix, with the indices of the whole matrix.
    /// ```
    /// use sparring::algebra::{Formula, Type};
    /// let f = Formula::parse("i < j", &[("i", Type::U64), ("j", Type::U64)], None)?;
    /// assert_eq!(f.shifted(&[("i", 5), ("j", 0)]).to_string(), "i + 5 < j");
    /// # Ok::<(), sparring::Error>(())
    /// ```
    #[must_use]
    pub fn shifted(&self, by: &[(&str, u64)]) -> Self {
        let offset = |name: &str| by.iter().find(|d| d.0 == name && d.1 != 0).map(|d| d.1);
        if !self.0.parameters.iter().any(|p| p.1 == Type::U64 && offset(&p.0).is_some() && self.reads(&p.0)) {
            return self.clone();
        }
        let mut builder = Builder::new(self.0.parameters.clone());
        let mut place: Vec<usize> = Vec::with_capacity(self.nodes().len());
        for Node { kind, ty } in self.nodes() {
            let kind = match kind {
                Kind::Call(f, operands) => Kind::Call(*f, operands.map(|o| place[o])),
                Kind::Host(f, operands) => Kind::Host(f.clone(), operands.map(|o| place[o])),
                other => other.clone(),
            };
            let is_shifted = match &kind {
                Kind::Parameter(p) if *ty == Type::U64 => offset(&self.0.parameters[*p].0),
                _ => None,
            };
            let mut node = builder.add(Node { kind, ty: *ty });
            if let Some(d) = is_shifted {
                let d = builder.constant(Constant::of(d));
                node = builder.call(Function::Add, &[node, d], Type::U64);
            }
            place.push(node);
        }
        let result = place[place.len() - 1];
        builder.finish(result)
    }
    /// As [`over`](Self::over), with parameters renamed: `a` is matched with `name("a")`.
    #[must_use]
    pub(crate) fn renamed(&self, parameters: &[Parameter], name: impl Fn(&str) -> &str) -> Option<Self> {
        let nodes = self.nodes().iter().map(|n| match n.kind {
            Kind::Parameter(p) => {
                let (old, ty) = &self.0.parameters[p];
                let index = parameters.iter().position(|q| q.0 == name(old) && q.1 == *ty)?;
                Some(Node { kind: Kind::Parameter(index), ty: n.ty })
            }
            _ => Some(n.clone()),
        });
        let nodes = nodes.collect::<Option<Vec<_>>>()?;
        Some(Self(Arc::new(Graph {
            parameters: parameters.to_vec(),
            nodes,
            creation_order: self.0.creation_order.clone(),
        })))
    }
}

impl PartialEq for Formula {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (&*self.0, &*other.0);
        Arc::ptr_eq(&self.0, &other.0) || (a.parameters == b.parameters && a.nodes == b.nodes)
    }
}
impl Eq for Formula {}
impl Hash for Formula {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.parameters.hash(state);
        self.0.nodes.hash(state);
    }
}
