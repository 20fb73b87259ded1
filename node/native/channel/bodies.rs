//! Bodies that cross the channel by reference: bytes that one side stores and the other takes once,
//! by the number in an entry.

use bytes::Bytes;

/// Bytes by their number; numbers are used again.
#[derive(Default)]
pub(crate) struct Bodies {
    /// `None` where a number is free.
    places: Vec<Option<Bytes>>,
    free: Vec<u32>,
}

impl Bodies {
    pub(crate) fn put(&mut self, bytes: Bytes) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = Some(bytes);
                place
            }
            None => {
                self.places.push(Some(bytes));
                self.places.len() as u32 - 1
            }
        }
    }
    /// Takes the bytes at `place` out; none where the number is free: a number that is taken twice is not given out twice.
    pub(crate) fn take(&mut self, place: u32) -> Bytes {
        let Some(bytes) = self.places.get_mut(place as usize).and_then(Option::take) else {
            return Bytes::new();
        };
        self.free.push(place);
        bytes
    }
}

#[cfg(test)]
#[path = "bodies_test.rs"]
mod bodies_test;
