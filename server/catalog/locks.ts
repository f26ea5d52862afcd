/** An exclusive lock. It ends with the process of its holder, even if that is killed. */
export interface Lock extends AsyncDisposable {
  release(): Promise<void>;
}

/** A file that a load was about to write. */
export interface PlannedFile {
  readonly file: string;
  /** It was removed before; a delayed upload may have stored it again. */
  readonly isAgain: boolean;
}

/** The right to change stored facts. */
export interface LoadLock extends Lock {
  /** Whether no other load runs. */
  readonly isForAll: boolean;
  /**
   * Locks further projects; returns false, and locks none, while another load has one of them. Without effect
   * if no other load runs.
   */
  takeProjects(ids: readonly string[]): Promise<boolean>;
  /** Records a file before the holder writes it, so that it is found if the holder is killed. */
  plan(file: string): Promise<void>;
  /**
   * The files that this holder and killed ones have planned, until `settlePlans`; without those to be removed again later.
   * @param now milliseconds
   */
  plans(now: number): Promise<PlannedFile[]>;
  /**
   * Forgets files of `plans`.
   * @param again those to return again, from the instant `at` (milliseconds)
   */
  settlePlans(files: readonly PlannedFile[], again: readonly PlannedFile[], at: number): Promise<void>;
}

/** Locks between all processes that use a catalog. */
export interface Locks {
  /**
   * The lock of loads; undefined while another holder has it.
   * @param scope `all`: no other load runs; `projects`: loads of other projects may run beside this one, where the
   *   catalog supports it
   */
  takeLoad(scope: 'all' | 'projects'): Promise<LoadLock | undefined>;
  /** A named lock; undefined while another holder has it. */
  take(name: string): Promise<Lock | undefined>;
  /** Removes what killed processes have left. */
  sweep(): Promise<void>;
}
