import { uuid } from './ids.ts';
import type { Keyword } from './keywords.ts';
import type { History, Site } from './site.ts';

export function alertRuleRows(site: Site, history: History, keywords: readonly Keyword[]): object[] {
  return history.rules.map(({ name, severity, query, rule }) => {
    const keyword = keywords.find((each) => each.query === query);
    return {
      id: uuid(`${site.projectId} rule ${name}`),
      project_id: site.projectId,
      name,
      rule: { ...(keyword ? { scope: 'keyword', id: keyword.id } : { scope: 'site' }), ...rule },
      severity,
      enabled: true,
    };
  });
}
