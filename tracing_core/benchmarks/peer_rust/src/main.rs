// The same benchmarks with Rust's tracing: `peer_rust NAME` prints one JSON object, with the lowest time of many repetitions in
// nanoseconds.
use std::hint::black_box;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tracing_subscriber::prelude::*;
use tracing_subscriber::EnvFilter;

static BYTES: AtomicU64 = AtomicU64::new(0);

struct Counting;
impl Write for Counting {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        BYTES.fetch_add(text.len() as u64, Ordering::Relaxed);
        Ok(text.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[inline(never)]
fn event(rows: i32, columns: i32) {
    tracing::debug!(rows, columns, "step");
}
#[inline(never)]
fn span(rows: i32, columns: i32) {
    let _scope = tracing::info_span!("work", rows, columns).entered();
    black_box(());
}
#[inline(never)]
fn open_span(rows: i32, columns: i32) -> tracing::Span {
    tracing::info_span!("work", rows, columns)
}
#[inline(never)]
fn request(rows: i32, columns: i32) {
    let _scope = tracing::info_span!("request", rows, columns).entered();
    tracing::debug!(rows, columns, "received");
    tracing::debug!(rows, columns, "looked up");
    tracing::debug!(rows, columns, "answered");
}
#[inline(never)]
fn message(moved: i32, ratio: f64) {
    tracing::info!(moved, ratio, "moved the block");
}

fn lowest(iterations: u32, mut f: impl FnMut(i32)) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..60 {
        let start = Instant::now();
        for i in 0..iterations {
            f(i as i32);
        }
        best = best.min(start.elapsed().as_nanos() as f64 / iterations as f64);
    }
    best
}

fn in_three_spans(f: impl FnOnce()) {
    let _server = tracing::info_span!("server", device = 0, stream = 7).entered();
    let _launch = tracing::info_span!("launch", count = 64, mode = "checked").entered();
    let _compile = tracing::info_span!("compile", grid = 16, cached = true).entered();
    f()
}

fn lines() -> f64 {
    let mut result = 0.0;
    in_three_spans(|| result = lowest(20_000, |i| message(i, i as f64 * 0.5)));
    result
}

fn hundred_directives() -> String {
    (0..100).map(|i| format!("crate_{i}::module={},", if i % 2 == 0 { "debug" } else { "info" })).collect()
}

fn main() {
    let name = std::env::args().nth(1).expect("the name of a row");
    let fmt = || tracing_subscriber::fmt::layer().with_writer(|| Counting);
    let ns = match name.as_str() {
        "off_event" => lowest(1_000_000, |i| event(i, 2)),
        "off_span" => lowest(1_000_000, |i| span(i, 2)),
        "span_registry" => {
            tracing_subscriber::registry().init();
            lowest(100_000, |i| span(i, 2))
        }
        "open_span" => {
            tracing_subscriber::registry().init();
            lowest(100_000, |i| drop(open_span(i, 2)))
        }
        "request_full" => {
            tracing_subscriber::registry().with(fmt()).init();
            lowest(20_000, |i| request(i, 2))
        }
        "span_full" => {
            tracing_subscriber::registry().with(fmt()).init();
            lowest(100_000, |i| span(i, 2))
        }
        "line_full" => {
            tracing_subscriber::registry().with(fmt()).init();
            lines()
        }
        "line_compact" => {
            tracing_subscriber::registry().with(fmt().compact()).init();
            lines()
        }
        "line_json" => {
            tracing_subscriber::registry().with(fmt().json()).init();
            lines()
        }
        "line_full_file" => {
            let path = std::env::temp_dir().join(format!("tracing_peer_{}", std::process::id()));
            let file = std::fs::File::create(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            let layer = tracing_subscriber::fmt::layer().with_writer(std::sync::Mutex::new(file));
            tracing_subscriber::registry().with(layer).init();
            BYTES.store(1, Ordering::Relaxed);
            lines()
        }
        "dynamic_on" | "dynamic_off" => {
            tracing_subscriber::registry().with(EnvFilter::new("[chosen]=debug,info")).init();
            let scope = if name == "dynamic_on" { tracing::info_span!("chosen") } else { tracing::info_span!("other") };
            let _scope = scope.entered();
            lowest(1_000_000, |i| event(i, 2))
        }
        "span_foreign_1000" => {
            let foreign: String = (0..1000).map(|i| format!(",foreign{i}[span{{x=1}}]=trace")).collect();
            tracing_subscriber::registry().with(EnvFilter::new("info".to_owned() + &foreign)).init();
            lowest(100_000, |i| span(i, 2))
        }
        "parse_100_directives" => {
            let text = hundred_directives();
            lowest(1_000, |_| {
                black_box(EnvFilter::new(&text));
            })
        }
        _ => return println!("{{\"name\":\"{name}\",\"ns\":null}}"),
    };
    let prints = name.starts_with("line") || name == "request_full";
    assert!(!prints || BYTES.load(Ordering::Relaxed) > 0, "no bytes written");
    println!("{{\"name\":\"{name}\",\"ns\":{ns:.3}}}");
}
