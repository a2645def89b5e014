//! Invalid device functions, rejected before any GPU compiler sees them.

use sparring::algebra::DeviceFunction;

//~ the brackets in the body of a device function do not match
pub const OPEN: DeviceFunction<1> = DeviceFunction::new("tanh", &["a"], "return ::tanh(a;");
//~ the name of a device function is an identifier
pub const NAME: DeviceFunction<1> = DeviceFunction::new("my tanh", &["a"], "return ::tanh(a);");
//~ two parameters of a device function have one name
pub const TWICE: DeviceFunction<2> = DeviceFunction::new("f", &["a", "a"], "return a;");
//~ the body of a device function does not return anything
pub const NOTHING: DeviceFunction<1> = DeviceFunction::new("f", &["a"], "a + 1;");
