import { eachInSteps } from '../../../core/turns/in-turns.ts';
import type { Steps } from '../../../core/turns/in-turns.ts';
import type { Turn } from '../../canonical/canonical.ts';
import type { Feature } from '../../features.ts';
import type { Members } from './members.ts';
import { toRequestBlock } from './to-block.ts';

export type Content = string | Members[];

export interface Message {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: Content;
}

export interface Conversation {
  /** Texts before the conversation; absent where there are none. */
  readonly system?: Content;
  readonly messages: readonly Message[];
}

interface Group {
  readonly role: Message['role'];
  readonly blocks: Members[];
  /** Results of tools, which take further words of the user. */
  isOpen: boolean;
}

/**
 * Writes a conversation. Results of tools are the user's words here, in one message with those that
 * follow them. System texts after words of the user become one message before the assistant's
 * answer, so that the earlier messages stay the same; all others come first.
 */
export function* toConversation(turns: readonly Turn[], losses: Set<Feature>): Steps<Conversation> {
  const groups: Group[] = [];
  const front: Members[] = [];
  let waiting: Members[] = [];
  const settle = (): void => {
    if (waiting.length === 0) return;
    if (groups.at(-1)?.role === 'user')
      groups.push({ role: 'system', blocks: waiting, isOpen: false });
    else addAll(front, waiting);
    waiting = [];
  };
  yield* eachInSteps(turns, (turn) => {
    const blocks = toBlocks(turn, losses);
    if (turn.role === 'system' || turn.role === 'developer')
      return addAll(groups.length > 0 ? waiting : front, blocks);
    if (turn.role === 'assistant' && blocks.length > 0) settle();
    addTurn(groups, turn, blocks);
  });
  settle();
  return {
    ...(front.length > 0 && { system: toContent(front) }),
    messages: groups.map(({ role, blocks }) => ({ role, content: toContent(blocks) })),
  };
}

function addTurn(groups: Group[], { role }: Turn, blocks: Members[]): void {
  const isOpen = role === 'tool';
  const last = groups.at(-1);
  if (last?.isOpen && role !== 'assistant') {
    addAll(last.blocks, blocks);
    last.isOpen = isOpen;
  } else if (blocks.length > 0) {
    groups.push({ role: role === 'assistant' ? 'assistant' : 'user', blocks, isOpen });
  }
}

function addAll(all: Members[], added: readonly Members[]): void {
  for (const block of added) all.push(block);
}

function toBlocks({ name, parts }: Turn, losses: Set<Feature>): Members[] {
  if (name !== undefined) losses.add('participant_names');
  return parts.map((part) => toRequestBlock(part, losses)).filter((block) => block !== undefined);
}

/** Blocks, or the text of content that is nothing but one text. */
function toContent(blocks: Members[]): Content {
  const [only] = blocks;
  if (blocks.length !== 1 || only?.['type'] !== 'text' || 'cache_control' in only) return blocks;
  return only['text'] as string;
}
