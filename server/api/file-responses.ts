import { Type } from 'typebox';
import { UNREADABLE_REQUESTS } from '../domain/errors.ts';
import { bytes, constantHeader, errorResponse, responses } from './responses.ts';

const rangeHeaders = {
  'Accept-Ranges': constantHeader('bytes'),
  'Content-Range': { type: 'string', description: 'Which bytes are sent, and the size of the file.' },
};

/** The `response` part of a route that sends a file. */
export function fileResponses(type: string, description: string): object {
  const {
    200: answer,
    304: notModified,
    ...errors
  } = responses(Type.Null(), '', ['not_found'], { hasEtag: true }) as {
    200: { headers: object };
    304: object;
  };
  const content = { [type]: bytes(description) };
  const { status, when } = UNREADABLE_REQUESTS.outOfRange;
  const refused = errorResponse('invalid_request') as { headers: object };
  return {
    200: { description, headers: { ...answer.headers, 'Accept-Ranges': rangeHeaders['Accept-Ranges'] }, content },
    206: {
      description: 'The requested bytes.',
      headers: { ...answer.headers, ...rangeHeaders },
      content,
    },
    304: notModified,
    [status]: {
      ...refused,
      description: `\`invalid_request\`: ${when}.`,
      headers: { ...refused.headers, 'Content-Range': rangeHeaders['Content-Range'] },
    },
    ...errors,
  };
}
