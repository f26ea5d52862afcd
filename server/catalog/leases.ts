/** An exclusive right across all processes. */
export interface Lease {
  /** False if it was lost: another process may have taken it. */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

/**
 * Provides named leases with one holder at a time. A lease ends with the process of its holder, even if killed; if its
 * machine or network is gone, within 30 s.
 */
export interface Leases {
  /** Takes a lease; undefined while another holder has it. */
  acquire(name: string): Promise<Lease | undefined>;
}
