import { Type } from 'typebox';
import type { Project } from '../catalog/projects.ts';
import { isoInstantOrNull } from '../domain/instants.ts';
import { keywordHistoryFrom } from '../domain/project-ranges.ts';
import { objects } from '../formats/table.ts';
import { formatParameters } from './parameters.ts';
import { projectPreset, projectsOnlyPreset, wholeResult } from './preset.ts';
import { columnsOf, object, projectDetails } from './schemas.ts';

export type ListedProject = ReturnType<typeof listedProject>;

const answer = object('ProjectsAnswer', { projects: Type.Array(projectDetails) });

const oneAnswer = object('ProjectAnswer', { project: projectDetails });

/** The projects of a workspace that have finished setup, oldest first. */
export const projectsPreset = projectsOnlyPreset({
  path: '/projects',
  operation: 'listProjects',
  tag: 'Projects',
  summary: 'The projects of the workspace',
  description: 'Oldest first. Projects that have not finished setup are left out.',
  answer,
  content: 'The projects.',
  examples: { 200: '/projects' },
  parameters: formatParameters,
  parse: () => ({}),
  plan: (_query, { projects }, { now }) => ({ projects: projects.map((project) => listedProject(project, now())) }),
  run: (result) => result,
  rows: ({ projects }) => objects({ name: 'projects' }, projects, columnsOf(projectDetails)),
  version: wholeResult,
});

/** One project, with the same properties as in the list of projects. */
export const oneProjectPreset = projectPreset({
  path: '/projects/:id',
  operation: 'getProject',
  tag: 'Projects',
  summary: 'One project',
  description: 'As the list of projects has it. A project that has not finished setup is unknown.',
  answer: oneAnswer,
  content: 'The project.',
  examples: { 200: '/projects/Proj1' },
  parameters: {},
  parse: () => ({}),
  plan: (_query, { project }, { now }) => ({ project: listedProject(project, now()) }),
  run: (result) => result,
  version: wholeResult,
});

/** A project for responses. */
export function listedProject(project: Project, now: number) {
  const { id, domain, property, country, language, syncStatus, syncedThrough, historyBackfilling } = project;
  return {
    id,
    domain,
    property,
    country,
    language,
    syncStatus,
    lastSyncedAt: isoInstantOrNull(project.lastSyncedAt),
    syncedThrough,
    keywordHistoryFrom: keywordHistoryFrom(project, now),
    historyBackfilling,
    trackedKeywords: project.trackedKeywords,
  };
}
