import { isAnswered, isManager, useAskFor, useResource } from '../lib/api.ts';
import type { Project } from '../lib/types.ts';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { Empty, Skeleton } from '../parts/states.tsx';
import { BrandTerms } from './settings-brand.tsx';
import { Groups, PageGroups } from './settings-groups.tsx';
import { Rules } from './settings-rules.tsx';
import { Shares } from './settings-shares.tsx';
import { Tags } from './settings-tags.tsx';

/** What owners and admins decide about a project. */
export function Settings() {
  return (
    <ProjectScreen title="Settings" needsData={false} isViewed={false} controls={() => null}>
      {(project) =>
        isManager.value ? (
          <Sections project={project} />
        ) : (
          <Empty title="Only owners and admins change the settings of a project" />
        )
      }
    </ProjectScreen>
  );
}

/** What each section begins with. */
const PARTS = ['rules', 'groups', 'page-groups', 'brand-terms', 'tags', 'shares'];

/** All sections at once: what is read does not move when another one arrives. */
function Sections({ project }: { project: Project }) {
  const paths = PARTS.map((part) => `/projects/${project.id}/${part}`);
  useAskFor(paths);
  // As many hooks as there are sections.
  const states = paths.map((path) => useResource<unknown>(path));
  if (!states.every(isAnswered)) {
    return <Skeleton lines={12} height={48} />;
  }
  return (
    <>
      <Rules project={project} />
      <Groups project={project} />
      <PageGroups project={project} />
      <BrandTerms project={project} />
      <Tags project={project} />
      <Shares project={project} />
    </>
  );
}
