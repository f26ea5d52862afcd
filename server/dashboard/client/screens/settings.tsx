import { isManager } from '../lib/api.ts';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { Empty } from '../parts/states.tsx';
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
          <>
            <Rules project={project} />
            <Groups project={project} />
            <PageGroups project={project} />
            <BrandTerms project={project} />
            <Tags project={project} />
            <Shares project={project} />
          </>
        ) : (
          <Empty title="Only owners and admins change the settings of a project" />
        )
      }
    </ProjectScreen>
  );
}
