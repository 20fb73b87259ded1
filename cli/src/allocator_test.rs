use super::*;

#[test]
fn a_block_is_aligned_as_asked_for_and_keeps_its_bytes_when_it_grows() {
    for align in [1, 2, 4, 8, 16, 32, 64, 4096] {
        for size in [1, 3, 8, 12, 16, 24, 100, 1024, 1100, 1792, 5000, 70_000] {
            let layout = Layout::from_size_align(size, align).expect("a power of two");
            // SAFETY: the block is written and read within its size, and freed once.
            unsafe {
                let at = Mimalloc.alloc(layout);
                assert!(!at.is_null());
                assert_eq!(at.addr() % align, 0, "{size} bytes by {align}");
                at.write_bytes(7, size);
                let grown = Mimalloc.realloc(at, layout, size * 3);
                assert_eq!(grown.addr() % align, 0, "{} bytes by {align}", size * 3);
                let kept = std::slice::from_raw_parts(grown, size);
                assert!(kept.iter().all(|&byte| byte == 7));
                let layout = Layout::from_size_align(size * 3, align).expect("a power of two");
                Mimalloc.dealloc(grown, layout);
                let zeroed = Mimalloc.alloc_zeroed(layout);
                assert_eq!(zeroed.addr() % align, 0);
                let zeros = std::slice::from_raw_parts(zeroed, size * 3);
                assert!(zeros.iter().all(|&byte| byte == 0));
                Mimalloc.dealloc(zeroed, layout);
            }
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn huge_pages_can_be_left_out() {
    use_small_pages();
    assert_eq!(nix::sys::prctl::get_thp_disable(), Ok(true));
}
