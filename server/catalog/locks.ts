/** A right of one holder at a time. It ends with the process of its holder, however that ends. */
export interface Lock extends AsyncDisposable {
  release(): Promise<void>;
}

/** A file that a load was about to write. */
export interface PlannedFile {
  readonly file: string;
  /** It was removed before; an object store may have put it there afterwards. */
  readonly isAgain: boolean;
}

/** The right to change stored facts. */
export interface LoadLock extends Lock {
  /** Whether no other load runs. */
  readonly isWhole: boolean;
  /**
   * Takes projects, in addition to those it has; false, and takes none, while another load has one of them. Without effect
   * if no other load runs.
   */
  takeProjects(ids: readonly string[]): Promise<boolean>;
  /** Records a file before the holder writes it: if the holder is killed, the file is found by this. */
  plan(file: string): Promise<void>;
  /**
   * The files that this holder and killed ones have planned, until `settlePlans`; without those to be removed again later.
   * @param now milliseconds
   */
  plans(now: number): Promise<PlannedFile[]>;
  /**
   * Forgets files of `plans`.
   * @param again those that it gives once more, from the instant `at` (milliseconds)
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
