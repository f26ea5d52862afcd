import { type Static, Type } from 'typebox';
import { projectRows } from '../../formats/entity-rows.ts';
import { documentJson } from '../../formats/json.ts';
import { formatParameters, readParameters } from '../../reports/parameters.ts';
import { oneProjectReport } from '../../reports/project.ts';
import { projectsReport } from '../../reports/projects.ts';
import { answerFresh } from '../answer.ts';
import { namedFormat, parametersOf, varyByAccept } from '../format.ts';
import { sendBytes } from '../response-cache.ts';
import { responses } from '../responses.ts';
import { rowStream } from '../row-stream.ts';
import { object } from '../schema-types.ts';
import { projectDetails } from '../schemas.ts';
import { sendStream } from '../send-stream.ts';
import type { Route } from './route.ts';

const answer = object('ProjectsAnswer', { projects: Type.Array(projectDetails) });

export const projects: Route = {
  path: '/projects',
  report: { operation: 'listProjects', parameters: formatParameters },
  tag: 'Projects',
  summary: 'The projects of the workspace',
  description: 'Oldest first. Projects that have not finished setup are left out.',
  response: responses(answer, 'The projects.', ['invalid_request']),
  handle: (context) => async (request, reply) => {
    varyByAccept(request, reply);
    const how = readParameters(formatParameters, parametersOf(request, namedFormat(request)));
    const result: Static<typeof answer> = await projectsReport(context, request.principal!);
    if (how.format !== 'json') {
      return sendStream(request, reply, undefined, async () => rowStream(context, how, projectRows(result)));
    }
    return sendBytes(reply, { bytes: documentJson(result), encoding: 'identity' });
  },
};

const oneAnswer = object('ProjectAnswer', { project: projectDetails });

export const oneProject: Route = {
  path: '/projects/:id',
  report: oneProjectReport,
  tag: 'Projects',
  summary: 'One project',
  description: 'As the list of projects has it. A project that has not finished setup is unknown.',
  response: responses(oneAnswer, 'The project.', ['not_found'], { hasEtag: true }),
  handle: answerFresh(oneProjectReport, { json: documentJson<Static<typeof oneAnswer>>, version: () => '' }),
};
