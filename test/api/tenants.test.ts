// No workspace can read the data or cached answers of another one.
import t from 'tap';
import { ROUTES } from '../../server/api/api.ts';
import { createKey } from '../../server/operations/keys.ts';
import { facts, keyword, makeWorld, ofProject, PROJECT, WORKSPACE } from '../world.ts';

/** Resources that need parameters, which are those of their examples. */
const WITH_PARAMETERS = ['effects'];
const PATHS = ROUTES.flatMap(({ path, examples }) => {
  const name = /^\/projects\/:id\/([\w-]+)$/.exec(path)?.[1];
  if (name === undefined) return [];
  return WITH_PARAMETERS.includes(name) ? [`${name}?${examples![200]!.split('?')[1]}`] : [name];
});

/** Pairs of workspace and project that are equal when they are joined by a separator. */
const SEPARATORS = [':', ' ', '/', '|', ',', '\\', '"', '","', '%20', ''];

t.test('no project id reads what is cached for another workspace', async (t) => {
  const others = SEPARATORS.map((separator, index) => ({
    workspace: `acme${separator}europe`,
    separator,
    project: `Sec${10 + index}`,
  }));
  const world = await makeWorld(t, {
    workspaces: [WORKSPACE, ...others.map(({ workspace }) => ({ ...WORKSPACE, id: workspace, name: workspace }))],
    projects: [
      PROJECT,
      ...others.map(({ workspace, project }) => ({ ...PROJECT, id: project, workspace_id: workspace })),
    ],
    keywords: others.flatMap(({ project }) => ofProject(project, [keyword('Kw001', 'secret')])),
    site_daily: others.flatMap(({ project }) =>
      ofProject(project, facts('date device', ['2026-03-01', 'mobile', 1, 2, 0])),
    ),
  });
  const refused: string[] = [];
  const leaked: string[] = [];
  for (const { workspace, project, separator } of others) {
    const bearer = async (of: string) => {
      const { key } = await createKey(world.catalog, { workspace: of, name: workspace, at: 0 });
      return { authorization: `Bearer ${key}` };
    };
    const [theirs, ours] = [await bearer(workspace), await bearer('acme')];
    for (const path of PATHS) {
      // Fills every cache.
      const own = await world.get(`/projects/${project}/${path}`, theirs);
      // Without any list, lists are 503.
      if (own.status !== 200 && own.status !== 503) refused.push(`${path} of '${workspace}'`);
      for (const id of [`europe${separator}${project}`, `${separator}europe${separator}${project}`, project]) {
        const { status } = await world.get(`/projects/${encodeURIComponent(id)}/${path}`, ours);
        if (status !== 404) leaked.push(`${path} of '${workspace}' as '${id}'`);
      }
    }
  }
  t.strictSame(leaked, [], 'acme reads nothing of the others');
  t.strictSame(refused, [], 'the others read their own');
});
