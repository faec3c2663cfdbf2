import { formText } from '../../support/form-text.ts';
import type { SurfaceRow } from '../surface.ts';
import { row as generations } from './images.ts';

const BOUNDARY = 'conformance-b0undary';

function editOf(model: string, boundary = BOUNDARY): Buffer {
  return formText(boundary, [
    { name: 'prompt', content: 'hello' },
    { name: 'image', filename: 'one.png', type: 'image/png', content: 'the bytes of one' },
    { name: 'unheard_of', content: '1.0' },
    { name: 'model', content: model },
    { name: 'n', content: '2' },
  ]);
}

export const row: SurfaceRow = {
  ...generations,
  path: () => '/v1/images/edits',
  body: (model) => editOf(model),
  contentType: `multipart/form-data; boundary=${BOUNDARY}`,
  // The gateway writes the form anew, with a boundary of its own.
  sent: ({ headers }) =>
    editOf('echo', String(headers['content-type']).split('boundary=')[1]).toString(),
  ids: {
    ...generations.ids,
    answer: ['images.edits.multipart'],
    faithful: ['images.edits.parts', 'routing.model-rewrite-only'],
  },
};
