//! A formula as CUDA C++: a function of one statement `const T tN = …;` for each function of the formula.
//!
//! Names cannot collide: parameters are the formula's own, temporaries are `t` and a number, functions live in
//! namespace `sr`.

use super::graph::{Kind, Node};
use super::{DeviceCall, Formula, Function};
use crate::algebra::{Constant, StructType, Type, for_each_type};

/// `static __device__ Out name(A a, …)`.
pub(crate) fn function(name: &str, f: &Formula) -> String {
    let parameters: Vec<_> = f.parameters().iter().map(|(p, ty)| format!("{} {p}", ty.cuda())).collect();
    let mut text = format!("  static __device__ {} {name}({}) {{\n", f.ty().cuda(), parameters.join(", "));
    let nodes = f.nodes();
    let mut names = vec![String::new(); nodes.len()];
    let mut count = 0;
    for &n in &f.0.creation_order {
        let Node { kind, ty } = &nodes[n];
        names[n] = match kind {
            Kind::Parameter(p) => f.parameters()[*p].0.to_string(),
            Kind::Constant(c) => literal(c),
            // Engines reject host functions before printing (`Op::host_function`).
            Kind::Host(..) => "sr::host_function()".to_string(),
            Kind::Call(function, operands) => {
                let types: Vec<_> = operands.iter().map(|&o| nodes[o].ty).collect();
                let operands: Vec<_> = operands.iter().map(|&o| names[o].as_str()).collect();
                let rhs = call(*function, &types, &operands, *ty);
                text += &format!("    const {} t{count} = {rhs};\n", ty.cuda());
                count += 1;
                format!("t{}", count - 1)
            }
        };
    }
    text += &format!("    return {};\n  }}\n", names[nodes.len() - 1]);
    text
}

fn call(function: Function, types: &[Type], operands: &[&str], out: Type) -> String {
    let name = match (function, types, out) {
        (Function::Select, ..) => return format!("{} ? {} : {}", operands[0], operands[1], operands[2]),
        (Function::Cast, ..) => format!("cast<{}>", out.cuda()),
        (Function::Field(index), [Type::Struct(s)], _) => format!("{}_{}", s.name, s.fields[index].0),
        (Function::Make, _, Type::Struct(s)) => format!("{}_of", s.name),
        (Function::Device(f), ..) => f.cuda(),
        _ => function.cuda().to_string(),
    };
    format!("sr::{name}({})", operands.join(", "))
}

impl Constant {
    /// The value as a CUDA C++ expression.
    #[must_use]
    pub fn literal(&self) -> String {
        literal(self)
    }
}

/// A value as an expression.
pub(crate) fn literal(c: &Constant) -> String {
    let cuda = c.ty().cuda();
    macro_rules! integer {
        ($($variant:ident $t:ty),*) => {
            match c.ty() {
                $(Type::$variant => c.get::<$t>().map(|x| integer(x.into(), <$t>::MIN.into(), size_of::<$t>(), cuda)),)*
                _ => None,
            }
        };
    }
    match c.ty() {
        Type::Bool => c.get::<bool>().map(|x| x.to_string()),
        Type::F32 => c.get::<f32>().map(|x| float(x.into(), &format!("{x:?}f"), cuda)),
        Type::F64 => c.get::<f64>().map(|x| float(x, &format!("{x:?}"), cuda)),
        Type::ComplexF32 | Type::ComplexF64 | Type::Struct(_) => {
            let fields: Vec<_> = (0..).map_while(|i| c.field(i)).map(|f| literal(&f)).collect();
            Some(format!("{cuda}{{{}}}", fields.join(", ")))
        }
        _ => for_each_type!(integers, integer!()),
    }
    .unwrap_or_default()
}

/// An integer of `size` bytes, whose type has the minimum `least`.
fn integer(x: i128, least: i128, size: usize, cuda: &str) -> String {
    let suffix = match (least < 0, size) {
        (true, 8) => "ll",
        (true, _) => "",
        (false, 8) => "ull",
        (false, _) => "u",
    };
    // In C++ the literal of the smallest signed value would be the negation of an overflowing number.
    if x == least && x < 0 { format!("({cuda})({}{suffix} - 1)", x + 1) } else { format!("({cuda})({x}{suffix})") }
}

fn float(x: f64, text: &str, cuda: &str) -> String {
    if x.is_nan() {
        format!("sr::nan<{cuda}>()")
    } else if x == f64::INFINITY {
        format!("sr::inf<{cuda}>()")
    } else if x == f64::NEG_INFINITY {
        format!("(-sr::inf<{cuda}>())")
    } else {
        format!("({text})")
    }
}

/// The definitions used by these types and formulas, each once: structs, then custom device functions.
pub(crate) fn definitions(types: &[Type], formulas: &[&Formula]) -> String {
    let mut all = Vec::new();
    types.iter().for_each(|&t| structs(t, &mut all));
    let types_of = |f: &&Formula| f.0.creation_order.iter().map(|&n| f.nodes()[n].ty).collect::<Vec<_>>();
    formulas.iter().flat_map(types_of).for_each(|t| structs(t, &mut all));
    let mut text: String = all.iter().map(|s| structure(s)).collect();
    let mut functions: Vec<String> = Vec::new();
    for f in formulas {
        for Node { kind, ty } in f.nodes() {
            if let Kind::Call(Function::Device(function), operands) = kind {
                let types: Vec<_> = operands.iter().map(|&o| f.nodes()[o].ty).collect();
                let own = device(function, &types, *ty);
                if !functions.contains(&own) {
                    functions.push(own);
                }
            }
        }
    }
    text.extend(functions);
    text
}

/// A custom device function.
fn device(f: &DeviceCall, types: &[Type], out: Type) -> String {
    let parameters: Vec<_> = types.iter().zip(f.parameters).map(|(ty, p)| format!("{} {p}", ty.cuda())).collect();
    let head = format!("static __device__ {} {}({})", out.cuda(), f.cuda(), parameters.join(", "));
    format!("namespace sr {{\n{head} {{ {} }}\n}}\n", f.body)
}

/// Appends a struct after the structs of its fields.
fn structs(ty: Type, all: &mut Vec<&'static StructType>) {
    if let Type::Struct(s) = ty {
        s.fields.iter().for_each(|f| structs(f.1, all));
        if !all.contains(&s) {
            all.push(s);
        }
    }
}

/// The struct and the functions that access its fields, construct it and compare it.
fn structure(s: &StructType) -> String {
    let StructType { name, size, align, .. } = s;
    let each = |f: &dyn Fn(&str, &str) -> String| s.fields.iter().map(|(x, ty, _)| f(ty.cuda(), x)).collect::<Vec<_>>();
    let members = each(&|cuda, field| format!("  {cuda} {field};\n")).concat();
    let getters =
        each(&|cuda, field| format!("static __device__ {cuda} {name}_{field}({name} a) {{ return a.{field}; }}\n"))
            .concat();
    let parameters = each(&|cuda, field| format!("{cuda} {field}")).join(", ");
    let names = each(&|_, field| field.to_string()).join(", ");
    let equal = each(&|_, field| format!("sr::eq(a.{field}, b.{field})")).join(" && ");
    format!(
        "struct {name} {{\n{members}}};\n\
         static_assert(sizeof({name}) == {size} && alignof({name}) == {align}, \"{name} lies here as on the host\");\n\
         namespace sr {{\n{getters}\
         static __device__ {name} {name}_of({parameters}) {{ return {name}{{{names}}}; }}\n\
         static __device__ bool eq({name} a, {name} b) {{ return {equal}; }}\n\
         static __device__ bool ne({name} a, {name} b) {{ return !sr::eq(a, b); }}\n}}\n"
    )
}
