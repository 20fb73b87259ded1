// Bytes of responses that were given to the engine and that no connection has taken: what JavaScript writes ahead, so
// that a connection with room need not wait for this thread. A bound for one response alone is none for a server:
// 4,000 responses whose clients do not read them would hold it 4,000 times.

/** The most of one response. */
export const AHEAD_BYTES_MAX = 64 * 1024
/** The default of `windows.sendBudget` (`core/src/limits/windows.rs`). */
const SEND_BUDGET_BYTES = 64 * 1024 * 1024
/** The part of the send budget that one server may hold ahead: one of four. */
const PART = 4
/** A response gets a 64th of what is left: a threshold that moves with the load, as the engine's own
 * (`core/src/send_account.rs`). It is below `AHEAD_BYTES_MAX` from about 190 responses on that hold that much. */
const SHARES = 64

/** The bytes that one server holds ahead. */
export class Ahead {
  /** Bytes of all its responses. */
  held = 0
  private readonly bytesMax: number

  constructor (sendBudget = SEND_BUDGET_BYTES) { this.bytesMax = sendBudget / PART }

  /** Whether a body of this length may be held whole: one that is no longer than any writer's share, or than half of what is left. */
  takesWhole (length: number): boolean { return length <= AHEAD_BYTES_MAX || length <= (this.bytesMax - this.held) / 2 }

  /** Bytes that one response may hold before its writer waits. At 0 a piece at a time goes, so that no writer waits for
   * another's client. */
  get room (): number { return Math.min(AHEAD_BYTES_MAX, Math.max(0, this.bytesMax - this.held) / SHARES) }
}
