//! Packets that are lost in bursts, queues that overflow and threads that get no processor for a while:
//! when that is over, each body arrives whole within the time of a few probe timeouts.

use super::progress::{Dice, Play};
use super::*;

const KIB: u64 = 1024;
/// Plays of the test: a second of the processor each.
const SEEDS: u64 = 8;

impl Play {
    fn end(&mut self, side: Side) -> &mut End {
        match side {
            Side::Client => &mut self.scene.client,
            Side::Server => &mut self.scene.server,
        }
    }
    /// Something that a busy machine or a bad path does.
    fn disturb(&mut self, dice: &mut Dice) {
        let now = self.scene.now;
        let side = dice.of(&[Side::Client, Side::Server]);
        let asleep = Duration::from_millis(dice.of(&[1, 20, 300, 3_000]));
        match dice.below(6) {
            0 => self.end(side).loses = dice.of(&[1, 2, 10, 100, 1_000]),
            // Fewer gaps than the 1,024 in one stream at which quinn-proto ends a connection.
            1 => self.end(side).loses_of = Some([dice.of(&[2, 3, 4]), 32]),
            2 => self.end(side).loses_of = None,
            3 => self.end(side).asleep_until = now + asleep,
            // Both ends are of one process.
            4 => {
                for side in [Side::Client, Side::Server] {
                    self.end(side).asleep_until = now + asleep;
                }
            }
            _ => self.end(side).queue_bytes = dice.of(&[3, 64, 256]) * KIB as usize,
        }
    }
    /// A short exchange beside the others. Readers that rest may have used up what the connection has:
    /// then it takes none, and a client opens another connection.
    fn begin_if_it_can(&mut self, reader: Side) {
        if self.scene.client.machine.capacity() > 0 {
            self.begin(reader, 5);
        }
    }
    fn calm(&mut self) {
        for side in [Side::Client, Side::Server] {
            let end = self.end(side);
            end.loses = 0;
            end.loses_of = None;
            end.queue_bytes = usize::MAX;
        }
    }
}

#[test]
fn bodies_arrive_whole_after_losses_overflows_and_ends_without_a_processor() {
    for seed in 1..=SEEDS {
        let mut dice = Dice::new(seed);
        let one_way = dice.of(&[20, 50, 500, 5_000, 30_000]);
        let speed = dice.of(&[2_000_000, 25_000_000, 125_000_000]);
        let mut play = Play::new(Duration::from_micros(one_way), speed);
        for side in [Side::Client, Side::Server] {
            play.end(side).segments = dice.of(&[1, 10, 44]);
        }
        // Both have the other's settings: what they wait for them is not what this is about.
        play.run_for(Duration::from_secs(1));
        let bodies = 1 + dice.below(4) as usize;
        for _ in 0..bodies {
            let reader = dice.of(&[Side::Client, Side::Server]);
            let size = dice.below(12 * MIB) + 1;
            play.begin(reader, size);
        }
        for _ in 0..dice.below(40) {
            let at = dice.below(bodies as u64) as usize;
            match dice.below(8) {
                step @ 0..3 => play.step(at, step, &mut dice),
                3 => play.begin_if_it_can(Side::Client),
                _ => play.disturb(&mut dice),
            }
            let time = dice.of(&[0, 100, 3_000, 100_000, 500_000]);
            play.run_for(Duration::from_micros(time));
        }
        play.calm();
        let row = format!("seed {seed}, {one_way} us, {speed} B/s");
        play.begin_if_it_can(Side::Client);
        play.begin_if_it_can(Side::Server);
        play.ends(&row);
        for at in 0..bodies {
            play.goes_on(at);
            play.ends(&row);
        }
    }
}
