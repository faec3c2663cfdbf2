import type { Steps } from '../../../core/in-turns.ts';
import type { Members } from '../../json-fields.ts';
import { unreadMembers } from '../../canonical/unread-members.ts';
import { RESPONSES_REQUEST } from './request-shape.ts';

/** Values that ask for what is done anyway. */
const USUAL: Readonly<Record<string, unknown>> = {
  store: false,
  background: false,
  truncation: 'disabled',
};

const INCLUDED: readonly unknown[] = [
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
];

/** Members of a request without a place in the canonical form. */
export function* unmappedFields(value: Members): Steps<string[]> {
  const all = yield* unreadMembers(value, RESPONSES_REQUEST);
  const unread = all.filter((name) => !Object.hasOwn(USUAL, name) || USUAL[name] !== value[name]);
  const { include } = value;
  const isKnown = !Array.isArray(include) || include.every((one) => INCLUDED.includes(one));
  return isKnown ? unread : [...unread, 'include'];
}
