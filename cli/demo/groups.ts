import { shortId } from './ids.ts';
import type { Keyword } from './keywords.ts';
import type { GroupPlan, PageGroupPlan, Site } from './site.ts';

interface GroupRow {
  project_id: string;
  id: string;
  name: string;
  kind: 'folder' | 'manual' | 'rule';
  parent_id: string | null;
  position: number;
  pinned: boolean;
  rule: object | null;
}

/** The rows of the table `groups`, folders before their contents, in the order of the rank tracker. */
export function groupRows(site: Site, plans: readonly GroupPlan[]): GroupRow[] {
  const rows: GroupRow[] = [];
  const add = (plan: GroupPlan, parent: string | null) => {
    const id = groupId(site, plan.name);
    rows.push({
      project_id: site.projectId,
      id,
      name: plan.name,
      kind: plan.children ? 'folder' : plan.members ? 'manual' : 'rule',
      parent_id: parent,
      position: rows.length,
      pinned: plan.pinned ?? false,
      rule: plan.rule ?? null,
    });
    for (const child of plan.children ?? []) add(child, id);
  };
  for (const plan of plans) add(plan, null);
  return rows;
}

export function memberRows(site: Site, plans: readonly GroupPlan[], keywords: readonly Keyword[]): object[] {
  return plans.flatMap((plan) => {
    const members = keywords.filter((keyword) => plan.members?.test(keyword.query) ?? false);
    const direct = members.map(({ id }) => ({
      project_id: site.projectId,
      group_id: groupId(site, plan.name),
      keyword_id: id,
    }));
    return [...direct, ...memberRows(site, plan.children ?? [], keywords)];
  });
}

export function pageGroupRows(site: Site, plans: readonly PageGroupPlan[]): object[] {
  return plans.map((plan, position) => ({
    project_id: site.projectId,
    id: shortId(`${site.projectId} page group ${plan.name}`),
    name: plan.name,
    position,
    rule: plan.rule,
    pinned_urls: plan.pinned ?? [],
  }));
}

/** Group names are unique within a demo site, so the name alone decides the id. */
export function groupId(site: Site, name: string): string {
  return shortId(`${site.projectId} group ${name}`);
}
