import { type Static, Type } from 'typebox';
import { documentJson } from '../../formats/json.ts';
import { oneProjectReport } from '../../presets/project.ts';
import { projectsReport } from '../../presets/projects.ts';
import { projectRows } from '../../presets/record-tables.ts';
import { answerWith, wholeResult } from '../answer.ts';
import { responses } from '../responses.ts';
import { object, projectDetails } from '../schemas.ts';
import type { Route } from './route.ts';

const answer = object('ProjectsAnswer', { projects: Type.Array(projectDetails) });

export const projects: Route = {
  path: '/projects',
  report: projectsReport,
  tag: 'Projects',
  summary: 'The projects of the workspace',
  description: 'Oldest first. Projects that have not finished setup are left out.',
  response: responses(answer, 'The projects.', ['invalid_request'], { hasEtag: true }),
  examples: { 200: '/projects' },
  handle: answerWith(projectsReport, {
    json: documentJson<Static<typeof answer>>,
    rows: projectRows,
    version: wholeResult,
  }),
};

const oneAnswer = object('ProjectAnswer', { project: projectDetails });

export const oneProject: Route = {
  path: '/projects/:id',
  report: oneProjectReport,
  tag: 'Projects',
  summary: 'One project',
  description: 'As the list of projects has it. A project that has not finished setup is unknown.',
  response: responses(oneAnswer, 'The project.', ['not_found'], { hasEtag: true }),
  examples: { 200: '/projects/Proj1' },
  handle: answerWith(oneProjectReport, { json: documentJson<Static<typeof oneAnswer>>, version: wholeResult }),
};
