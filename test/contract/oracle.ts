// Computes the answers of the API from the rows of a snapshot and the contract alone: row by row, without code of the
// server.
import type { Tables } from '../world.ts';
import { effects } from './oracle-effects.ts';
import { alerts, groupList, hours, notes, pageGroups, projects } from './oracle-entities.ts';
import { explain } from './oracle-explain.ts';
import { breakdowns, keywords, list, portfolio, site, surfaces } from './oracle-facts.ts';
import { findings } from './oracle-findings.ts';
import { type Expected, missing, type Query, Refusal, readQuery } from './oracle-terms.ts';
import { OracleWorld, type Project } from './oracle-world.ts';
import { type Question, QuestionOracle } from './question-oracle.ts';

type Endpoint = (world: OracleWorld, project: Project, query: Query) => object;

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  keywords,
  groups: groupList,
  'page-groups': pageGroups,
  site,
  hours,
  breakdowns,
  surfaces,
  effects,
  explain,
  findings,
  pages: (world, project, query) => list(world, project, query, 'pages'),
  queries: (world, project, query) => list(world, project, query, 'queries'),
  alerts,
  notes,
  query: (world, project, query) => new QuestionOracle(world).answer(project, JSON.parse(query.get('q')!) as Question),
};

/** Answers for a workspace at an instant. */
export class Oracle {
  readonly #world: OracleWorld;

  constructor(tables: Tables, workspace: string, now: number) {
    this.#world = new OracleWorld(tables, workspace, now);
  }

  /** The answer to a path below the API's root. */
  answer(path: string): Expected {
    const [, , id, endpoint = ''] = path.split('?')[0]!.split('/');
    try {
      if (path.startsWith('/portfolio')) return { status: 200, body: portfolio(this.#world, readQuery(path)) };
      if (id === undefined) return { status: 200, body: projects(this.#world) };
      const project = this.#world.allProjects().find((row) => row['id'] === id);
      if (project === undefined) throw missing();
      const of = { ...project, id } as Project;
      const body = ENDPOINTS[endpoint]!(this.#world, of, readQuery(path));
      return { status: 200, body: { project: { id, domain: of['domain'] }, ...body } };
    } catch (error) {
      if (error instanceof Refusal) return error.expected;
      throw error;
    }
  }
}
