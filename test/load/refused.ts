import { LoadRejected, type Problem } from '../../server/domain/problems.ts';

/** The problems that a load is refused for; fails when it is not refused. */
export async function problemsOf(load: Promise<unknown>): Promise<readonly Problem[]> {
  try {
    await load;
  } catch (error) {
    if (error instanceof LoadRejected) return error.problems;
    throw error;
  }
  throw new Error('the load was not refused');
}
