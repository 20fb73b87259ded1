//! Bodies that cross the channel by reference: bytes that one side stores and the other takes once,
//! by the number in an entry.

use bytes::Bytes;
use std::mem;

/// Bytes by their number; numbers are used again.
#[derive(Default)]
pub(crate) struct Bodies {
    places: Vec<Bytes>,
    free: Vec<u32>,
}

impl Bodies {
    pub(crate) fn put(&mut self, bytes: Bytes) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = bytes;
                place
            }
            None => {
                self.places.push(bytes);
                self.places.len() as u32 - 1
            }
        }
    }
    /// Nothing where no such number was given.
    pub(crate) fn take(&mut self, place: u32) -> Bytes {
        let Some(bytes) = self.places.get_mut(place as usize) else {
            return Bytes::new();
        };
        self.free.push(place);
        mem::take(bytes)
    }
}
