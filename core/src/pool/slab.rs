//! A slab with generational keys: the key of a removed entry finds nothing, even when its slot is
//! reused. So a late report about a closed connection is harmless.

/// Names one entry of one [`Slab`], for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    index: u32,
    generation: u32,
}

impl Key {
    pub(super) fn number(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }
}

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    entry: Option<T>,
}

/// Entries by [`Key`]; insertion and removal in constant time.
#[derive(Debug)]
pub(super) struct Slab<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    len: usize,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            len: 0,
        }
    }
}

impl<T> Slab<T> {
    pub(super) fn insert(&mut self, entry: T) -> Key {
        self.len += 1;
        if let Some(index) = self.free.pop() {
            let slot = &mut self.slots[index as usize];
            slot.entry = Some(entry);
            return Key {
                index,
                generation: slot.generation,
            };
        }
        let index = self.slots.len() as u32;
        self.slots.push(Slot {
            generation: 0,
            entry: Some(entry),
        });
        Key {
            index,
            generation: 0,
        }
    }

    pub(super) fn remove(&mut self, key: Key) -> Option<T> {
        let slot = self.slots.get_mut(key.index as usize)?;
        if slot.generation != key.generation {
            return None;
        }
        let entry = slot.entry.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(key.index);
        self.len -= 1;
        Some(entry)
    }

    pub(super) fn get(&self, key: Key) -> Option<&T> {
        self.slots
            .get(key.index as usize)
            .filter(|slot| slot.generation == key.generation)?
            .entry
            .as_ref()
    }

    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        self.slots
            .get_mut(key.index as usize)
            .filter(|slot| slot.generation == key.generation)?
            .entry
            .as_mut()
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (Key, &mut T)> {
        self.slots
            .iter_mut()
            .enumerate()
            .filter_map(|(index, slot)| {
                let key = Key {
                    index: index as u32,
                    generation: slot.generation,
                };
                slot.entry.as_mut().map(|entry| (key, entry))
            })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Key, &T)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            let key = Key {
                index: index as u32,
                generation: slot.generation,
            };
            slot.entry.as_ref().map(|entry| (key, entry))
        })
    }
}
