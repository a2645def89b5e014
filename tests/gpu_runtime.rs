//! The foundations of all device operations: memory, copies, programs and their cache, errors.

#[path = "common/gpu.rs"]
mod gpu;

use std::path::PathBuf;

use gpu::cuda;
use sparring::algebra::{Array, Plus, Type, Value};
use sparring::gpu::testing::{self, Functions};
use sparring::runtime::engine::bytes_of;
use sparring::runtime::{BinaryOp, Machine, Matrix, Semiring, Vector};
use sparring::{Cpu, Csr, Cuda, Error};

sparring::value! {
    /// 16 bytes, some of them padding.
    pub struct Best {
        /// A value.
        pub value: f64,
        /// A small number.
        pub index: u8,
    }
}

/// One row with these values.
fn row<T: Value>(values: Vec<T>) -> Csr<T> {
    let n = values.len();
    Csr::new(1, n.max(1), vec![0, n], (0..n as u32).collect(), values).expect("a row")
}
fn there_and_back<T: Value>(cuda: &Cuda, values: Vec<T>) {
    let a = row(values);
    let b: Csr<T> = cuda.download(&cuda.upload(&a).expect("uploaded")).expect("downloaded");
    assert!(a == b, "{} values of {} bytes differ", a.nnz(), size_of::<T>());
}

#[test]
#[ignore = "needs a GPU"]
fn copies_of_any_size_come_back() {
    let cuda = cuda();
    let (least, chunk) = ((1 << 20) / 8, (8 << 20) / 8);
    let sizes =
        [0, 1, 3, least - 1, least, least + 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 2 * chunk + 1, 5 * chunk + 7];
    for n in sizes {
        there_and_back(&cuda, (0..n as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect());
    }
    there_and_back(&cuda, (0..10_000_001u32).map(|i| i % 3 == 0).collect());
    there_and_back(&cuda, (0..3_000_000u32).map(|i| Best { value: i.into(), index: (i % 251) as u8 }).collect());
    assert_eq!(cuda.used_memory().expect("a figure"), 0, "all given back");
}

#[test]
#[ignore = "needs a GPU"]
fn threads_share_the_device() {
    let cuda = cuda();
    std::thread::scope(|s| {
        for t in 0..8u64 {
            let cuda = cuda.clone();
            s.spawn(move || {
                for round in 0..5 {
                    there_and_back(&cuda, (0..2_500_000).map(|i| i * 8 + t + round).collect());
                }
            });
        }
    });
}

#[test]
#[ignore = "needs a GPU"]
fn copies_from_tasks_of_a_pool_do_not_wait_for_each_other() {
    let cuda = cuda();
    // The copy itself runs tasks in the pool; a task stolen meanwhile may start a copy, too.
    rayon::scope(|s| {
        for t in 0..16u64 {
            let cuda = cuda.clone();
            s.spawn(move |_| there_and_back(&cuda, (0..2_000_000).map(|i| i * 16 + t).collect()));
        }
    });
}

#[test]
#[ignore = "needs a GPU"]
fn memory_is_counted_and_may_be_limited() {
    let cuda = cuda();
    let (used, free) = (cuda.used_memory().expect("a figure"), cuda.free_memory().expect("a figure"));
    assert!(used == 0 && free > 0 && free <= cuda.limits().memory);
    let cuda = cuda.memory_budget(10_000_000);
    let half = row(vec![1.0f64; 500_000]);
    let first = cuda.upload(&half).expect("6 MB fit");
    assert!(cuda.used_memory().expect("a figure") >= 6_000_000);
    match cuda.upload(&half) {
        Err(Error::Budget { bytes, budget: 10_000_000, .. }) => assert!(bytes > 10_000_000),
        other => panic!("{other:?}"),
    }
    drop(first);
    cuda.upload(&half).expect("6 MB fit again");
    cuda.trim().expect("trimmed");
    assert_eq!(cuda.held_memory().expect("a figure"), 0);
    assert!(cuda.peak_memory().expect("a figure") >= 6_000_000);
}

#[test]
#[ignore = "needs a GPU"]
fn more_than_there_is_is_refused_with_figures() {
    let cuda = cuda();
    let much = usize::try_from(cuda.limits().memory).expect("64 bits") * 2;
    match testing::take(&cuda, much) {
        Err(Error::DeviceMemory { bytes, free, .. }) => assert!(bytes > u128::from(free) && free > 0),
        other => panic!("{other:?}"),
    }
    for absurd in [usize::MAX, usize::MAX - 16, usize::MAX / 2] {
        assert!(matches!(testing::take(&cuda, absurd), Err(Error::DeviceMemory { .. } | Error::Device { .. })));
    }
    testing::take(&cuda, 1000).expect("goes on working");
}

/// A distinct program for each `name`.
fn functions(name: &str) -> Functions {
    let mut functions = Functions::default();
    functions.binary(name, Plus::<u32>::new());
    functions
}
fn add(cuda: &Cuda, name: &str) {
    let sum: Vec<u32> = functions(name).run2(cuda, name, &[1u32, 2], &[10u32, 20]).expect("a sum");
    assert_eq!(sum, [11, 22]);
}
fn images(folder: &std::path::Path) -> Vec<PathBuf> {
    let list = std::fs::read_dir(folder).expect("a folder");
    list.map(|e| e.expect("an entry").path()).collect()
}

#[test]
#[ignore = "needs a GPU"]
fn programs_are_kept_on_disk_and_checked() {
    let top = tempfile::tempdir().expect("a folder");
    let folder = top.path().join("programs");
    let new = || Cuda::new(0).expect("a device").cache_folder(Some(folder.clone()));
    add(&new(), "kept");
    let kept = images(&folder);
    assert_eq!(kept.len(), 1);
    let whole = std::fs::read(&kept[0]).expect("an image");

    let start = std::time::Instant::now();
    add(&new(), "kept");
    println!("from the cache, with opening the device: {:?}", start.elapsed());

    // A flipped byte, a truncated file, an empty one, another program's image under this name.
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for damaged in [&flipped[..], &whole[..whole.len() / 2], &[]] {
        std::fs::write(&kept[0], damaged).expect("written");
        add(&new(), "kept");
        assert!(std::fs::read(&kept[0]).expect("an image") == whole, "replaced");
    }
    assert_eq!(new().cached_in(), Ok(&*folder));
    let none = Cuda::new(0).expect("a device").cache_folder(None);
    add(&none, "not_kept");
    assert!(none.cached_in().is_err() && images(&folder).len() == 1);
}

#[test]
#[ignore = "needs a GPU"]
fn threads_that_ask_for_one_program_get_it() {
    let cuda = cuda();
    let top = tempfile::tempdir().expect("a folder");
    let cuda = cuda.cache_folder(Some(top.path().join("programs")));
    std::thread::scope(|s| {
        for _ in 0..8 {
            let cuda = cuda.clone();
            s.spawn(move || add(&cuda, "shared"));
        }
    });
    assert_eq!(images(&top.path().join("programs")).len(), 1);
}

#[test]
#[ignore = "needs a GPU"]
fn a_call_with_wrong_arguments_is_refused() {
    let cuda = cuda();
    let error = testing::too_few_arguments(&cuda).expect_err("refused").to_string();
    assert!(error.contains("add_one") && error.contains("[8]") && error.contains("[8, 8]"), "{error}");
    add(&cuda, "after_refusal");
}

/// A failing kernel makes the device unusable for the process, so it runs in another process.
#[test]
#[ignore = "needs a GPU"]
fn an_error_on_the_device_names_the_kernels_and_drops_go_well() {
    const CHILD: &str = "SPARRING_TEST_FAILS";
    if std::env::var_os(CHILD).is_some() {
        let cuda = Cuda::new(0).expect("a device");
        let matrix = cuda.upload(&row(vec![1.0; 1000])).expect("uploaded");
        let error = testing::fail(&cuda).expect_err("it fails").to_string();
        for word in ["add_one", "fail", "kernels since the last wait"] {
            assert!(error.contains(word), "{error}");
        }
        // Every call fails from here on, and none panics.
        assert!(matches!(cuda.synchronize(), Err(Error::Device { .. })));
        assert!(cuda.download::<f64, u32>(&matrix).is_err());
        assert!(cuda.upload(&row(vec![1.0; 1_000_000])).is_err());
        drop(matrix);
        drop(cuda);
        return;
    }
    let child = std::process::Command::new(std::env::current_exe().expect("this program"))
        .args([
            "an_error_on_the_device_names_the_kernels_and_drops_go_well",
            "--exact",
            "--include-ignored",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .output()
        .expect("started");
    let text = [child.stdout, child.stderr].concat();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&text));
}

/// Matrices and vectors move between `Cuda` values, on the same GPU and on the next, as on the CPU.
#[test]
#[ignore = "needs a GPU"]
fn operands_come_from_other_gpus() {
    let first = cuda();
    let others = (0..Cuda::count()).map(|k| Cuda::new(k).expect("a GPU"));
    let cpu = Machine::from(Cpu::new());
    let ring = Semiring::new("plus_times", Type::I64).expect("a semiring");
    let n = 3_000;
    let cols: Vec<u32> = (0..n as u32).flat_map(|i| [i / 2, i / 2 + 1]).collect();
    let a = Csr::<i64>::new(n, n, (0..=n).map(|i| 2 * i).collect(), cols, (0..2 * n as i64).collect());
    let a = Matrix::from(a.expect("a matrix"));
    let forms = [
        Vector::full(Array::of((0..n as i64).collect::<Vec<_>>())),
        Vector::new(n, vec![3, 70, 2_999], Array::of(vec![5i64, -7, 11])),
        Vector::empty(Type::I64, n),
    ];
    for other in others {
        let (here, there) = (Machine::from(first.clone()), Machine::from(other.clone()));
        let moved = here.upload(&there.upload(&a).expect("sent")).expect("moved");
        let same = |what: &str, x: &Matrix, y: &Matrix| {
            let (x, y) = (x.download().expect("here"), y.download().expect("here"));
            let words = |a: &Matrix| bytes_of(a.values().expect("values")).expect("bytes");
            assert!(x.pattern() == y.pattern() && words(&x) == words(&y), "{what}");
        };
        same("a matrix", &a, &moved);
        // Rows of a product need not be sorted.
        let product = there.mxm(&ring, &a, &a).expect("a product");
        let expected = cpu.mxm(&ring, &a, &a).expect("a product");
        same("a product", &expected, &here.upload(&product).expect("moved"));
        drop(product);
        let sum =
            here.ewise_add(&BinaryOp::new("plus", Type::I64).expect("plus"), &moved, &there.upload(&a).expect("sent"));
        same(
            "operands of two",
            &cpu.ewise_add(&BinaryOp::new("plus", Type::I64).expect("plus"), &a, &a).expect("a sum"),
            &sum.expect("a sum"),
        );
        for x in &forms {
            let x = x.as_ref().expect("a vector");
            let moved = here.upload_vector(&there.upload_vector(x).expect("sent")).expect("moved");
            let (p, q) = (x.entries().expect("entries"), moved.download().expect("here").entries().expect("entries"));
            assert!(p.0 == q.0 && p.1.slice().get::<i64>() == q.1.slice().get::<i64>(), "a vector");
        }
        drop(moved);
        assert_eq!(other.used_memory().expect("a figure"), 0, "all given back");
    }
}

/// Arrays of a matrix are lent, and new ones are filled by the caller's copies; invalid matrices are refused.
#[test]
#[ignore = "needs a GPU"]
fn arrays_are_lent_and_filled() {
    let gpu = cuda();
    let machine = Machine::from(gpu.clone());
    let a = Matrix::from(Csr::<f32>::new(2, 4, vec![0, 2, 3], vec![1, 3, 0], vec![1.0, 2.0, 3.0]).expect("a matrix"));
    let b = machine.upload(&a).expect("sent");
    let lengths = machine.with_device_arrays(&b, |arrays| Ok(arrays.map(|array| (array.len(), array.ty()))));
    assert_eq!(lengths.expect("lent"), [(3, Type::U32), (3, Type::U32), (3, Type::F32)]);
    assert!(machine.with_device_arrays(&a, |_| Ok(())).is_err(), "it is not there");
    // Nothing is written: without rows and entries, that is a valid matrix.
    let none = machine.matrices_filled(Type::F32, &[((0, 4), 0)], |rooms| {
        assert_eq!(rooms[0].map(|array| array.len()), [1, 0, 0]);
        Err(Error::Argument { name: "fill", message: "it said no".into() })
    });
    assert!(none.expect_err("no").to_string().contains("it said no"));
    let gone = machine.matrices_filled(Type::F64, &[((1, 1), usize::MAX / 8)], |_| panic!("there is no room"));
    assert!(matches!(gone, Err(Error::DeviceMemory { .. })), "{gone:?}");
    drop(b);
    assert_eq!(gpu.used_memory().expect("a figure"), 0, "all given back");
}
