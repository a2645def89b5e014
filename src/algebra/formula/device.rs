//! Custom device functions: their CUDA text, validated before compilation.

/// A custom device function of `N` scalars, defined by its CUDA text: `Out name(A a, …) { body }`.
///
/// The signature is generated from the argument types, so one text serves every type for which the body is valid, and
/// the function is always defined. In a `const`, an ill-formed text is a compile error.
/// ```
/// use sparring::algebra::{DeviceFunction, Host, UnaryOp, V, emit_unary_op};
/// const TANH: DeviceFunction<1> = DeviceFunction::new("tanh", &["a"], "return ::tanh(a);");
/// sparring::op! {
///     /// The hyperbolic tangent.
///     pub Tanh (a: f64) -> f64 { a.call1(TANH, f64::tanh) }
/// }
/// assert_eq!(Tanh::new().apply::<Host>(V(0.0)).0, 0.0);
/// assert!(emit_unary_op(Tanh::new()).contains("(double a) { return ::tanh(a); }"));
/// ```
/// ```compile_fail
/// use sparring::algebra::DeviceFunction;
/// const TANH: DeviceFunction<1> = DeviceFunction::new("tanh", &["a"], "return ::tanh(a;");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceFunction<const N: usize> {
    call: DeviceCall,
}

/// A [`DeviceFunction`] of any number of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceCall {
    pub(super) name: &'static str,
    pub(super) parameters: &'static [&'static str],
    pub(super) body: &'static str,
}

impl<const N: usize> DeviceFunction<N> {
    /// The function with this name, these parameters, and this body in CUDA C++.
    /// # Panics
    /// If a name is not an identifier, a parameter is repeated, brackets or quotes of the body do not match, or it has
    /// no `return`. In a `const` this is a compile error; [`checked`](Self::checked) is for texts known at run time.
    #[must_use]
    pub const fn new(name: &'static str, parameters: &'static [&'static str; N], body: &'static str) -> Self {
        match Self::checked(name, parameters, body) {
            Ok(function) => function,
            Err(why) => panic!("{}", why),
        }
    }
    /// As [`new`](Self::new), with an error instead of a panic.
    /// # Errors
    /// A description of the violation.
    pub const fn checked(
        name: &'static str,
        parameters: &'static [&'static str; N],
        body: &'static str,
    ) -> Result<Self, &'static str> {
        if !identifier(name.as_bytes()) {
            return Err("the name of a device function is an identifier: letters, digits and _, no digit first");
        }
        let mut i = 0;
        while i < N {
            if !identifier(parameters[i].as_bytes()) {
                return Err(
                    "the parameters of a device function are identifiers: letters, digits and _, no digit first",
                );
            }
            let mut j = 0;
            while j < i {
                if same(parameters[i].as_bytes(), parameters[j].as_bytes()) {
                    return Err("two parameters of a device function have one name");
                }
                j += 1;
            }
            i += 1;
        }
        match matched(body.as_bytes()) {
            Some(why) => Err(why),
            None => Ok(Self { call: DeviceCall { name, parameters, body } }),
        }
    }
    pub(crate) const fn call(self) -> DeviceCall {
        self.call
    }
}

impl DeviceCall {
    /// Its name on the device, which includes a hash of parameters and body: functions of the same name may differ.
    pub(crate) fn cuda(&self) -> String {
        // FNV-1a (Fowler, Noll, Vo).
        let bytes = self.parameters.iter().flat_map(|p| p.bytes().chain([0])).chain(self.body.bytes());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        format!("{}_{:08x}", self.name, (hash ^ (hash >> 32)) as u32)
    }
}

const fn identifier(name: &[u8]) -> bool {
    let mut i = 0;
    while i < name.len() {
        if !(name[i].is_ascii_alphabetic() || name[i] == b'_' || (i > 0 && name[i].is_ascii_digit())) {
            return false;
        }
        i += 1;
    }
    !name.is_empty()
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// The violation in a body, if any. A valid body never closes its outer brace, and has no comments, preprocessor lines
/// or strings that could hide a brace.
const fn matched(body: &[u8]) -> Option<&'static str> {
    let mut open = [0u8; 64];
    let (mut depth, mut i, mut returns) = (0, 0, false);
    while i < body.len() {
        match body[i] {
            b'(' | b'[' | b'{' => {
                if depth == open.len() {
                    return Some("the body of a device function has more than 64 brackets within each other");
                }
                open[depth] = body[i];
                depth += 1;
            }
            b')' | b']' | b'}' => {
                let wanted = match body[i] {
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'{',
                };
                if depth == 0 || open[depth - 1] != wanted {
                    return Some("the brackets in the body of a device function do not match");
                }
                depth -= 1;
            }
            b'"' | b'\'' | b'#' | b'\\' => {
                return Some("the body of a device function has no strings, characters or preprocessor lines");
            }
            b'/' if i + 1 < body.len() && (body[i + 1] == b'/' || body[i + 1] == b'*') => {
                return Some("the body of a device function has no comments");
            }
            b'r' if body.len() - i > 6 && same(body.split_at(i).1.split_at(6).0, b"return") => returns = true,
            _ => {}
        }
        i += 1;
    }
    if depth > 0 {
        return Some("the brackets in the body of a device function do not match");
    }
    if !returns {
        return Some("the body of a device function does not return anything");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::DeviceFunction;

    #[test]
    fn ill_formed_ones_are_refused() {
        let why = |name, body| DeviceFunction::<1>::checked(name, &["a"], body).err().unwrap_or("fine");
        assert_eq!(why("tanh", "return ::tanh(a);"), "fine");
        assert!(why("tan h", "return a;").contains("name"));
        assert!(why("", "return a;").contains("name"));
        assert!(why("2pi", "return a;").contains("name"));
        assert!(why("f", "return (a;").contains("do not match"));
        assert!(why("f", "return a; } int g() { return 1;").contains("do not match"));
        assert!(why("f", "return (a];").contains("do not match"));
        assert!(why("f", "a;").contains("return"));
        assert!(why("f", "return a; // }").contains("comments"));
        assert!(why("f", "#define X\nreturn a;").contains("preprocessor"));
        assert!(
            DeviceFunction::<2>::checked("f", &["a", "a"], "return a;").err().is_some_and(|w| w.contains("one name"))
        );
        assert!(
            DeviceFunction::<1>::checked("f", &["a-b"], "return a;").err().is_some_and(|w| w.contains("parameters"))
        );
    }
}
