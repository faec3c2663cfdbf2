import { collectSteps } from '../../../core/turns/in-turns.ts';
import type { Steps } from '../../../core/turns/in-turns.ts';
import type {
  DocumentPart,
  ImagePart,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../canonical/canonical.ts';
import type { Feature } from '../../features.ts';
import { writeCitation } from './annotations.ts';
import { fileName } from '../../media/file-name.ts';
import { defined } from '../../json-fields.ts';
import { writeUrl } from './media.ts';
import { toProviderReasoning } from './reasoning-item.ts';

type Losses = Set<Feature>;
type Item = Readonly<Record<string, unknown>>;

/** The items of a conversation; features without a form in them are added to `losses`. */
export function* writeInput(turns: readonly Turn[], losses: Losses): Steps<object[]> {
  const custom = yield* customCallsOf(turns);
  return yield* collectSteps(turns, (turn) => {
    if (turn.name !== undefined) losses.add('participant_names');
    const { role, parts } = turn;
    if (role === 'assistant') return writeAssistant(parts, losses);
    if (role === 'tool') return parts.flatMap((part) => writeResult(part, { losses, custom }));
    return [{ role, content: writeContent(parts, losses) }];
  });
}

/** Reasoning, messages and calls are items of their own; adjacent texts are one message. */
function writeAssistant(parts: readonly Part[], losses: Losses): object[] {
  const items: object[] = [];
  let said: Item[] = [];
  const endMessage = (): void => {
    if (said.length > 0) items.push(writeMessage(said));
    said = [];
  };
  for (const part of parts) {
    if (part.type === 'text' || part.type === 'refusal') {
      said.push(writeSaid(part, losses));
      continue;
    }
    endMessage();
    const item = writeItem(part, losses);
    if (item) items.push(item);
  }
  endMessage();
  return items;
}

/** A single text is written in the form that every server takes. */
function writeMessage(content: readonly Item[]): object {
  const [only] = content;
  const isPlain = content.length === 1 && only?.['type'] === 'output_text' && isEmpty(only);
  return isPlain
    ? { role: 'assistant', content: only['text'] }
    : { type: 'message', role: 'assistant', content };
}

function isEmpty({ annotations }: Item): boolean {
  return !Array.isArray(annotations) || annotations.length === 0;
}

function writeSaid(part: Extract<Part, { type: 'text' | 'refusal' }>, losses: Losses): Item {
  if (part.type === 'refusal') return { type: 'refusal', refusal: part.text };
  const { text, citations = [], cache } = part;
  if (cache) losses.add('cache_control');
  if (citations.some(({ quote }) => quote !== undefined)) losses.add('citations');
  const annotations = citations.map((citation) => writeCitation(citation, text.length));
  return { type: 'output_text', text, annotations };
}

function writeItem(part: Part, losses: Losses): object | undefined {
  if (part.type === 'tool_call') return writeCall(part);
  const item = part.type === 'reasoning' ? toProviderReasoning(part) : ownValue(part);
  if (!item) lose(part, losses);
  return item;
}

/** Ids of the calls of custom tools, whose results are items of their own. */
function* customCallsOf(turns: readonly Turn[]): Steps<ReadonlySet<string>> {
  const calls = yield* collectSteps(turns, ({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool_call' && part.custom ? [part.id] : [])),
  );
  return new Set(calls);
}

function writeCall({ id, name, arguments: text, custom }: ToolCallPart): object {
  if (custom) return { type: 'custom_tool_call', call_id: id, name, input: text };
  return { type: 'function_call', call_id: id, name, arguments: text || '{}' };
}

function writeResult(
  part: Part,
  { losses, custom }: { losses: Losses; custom: ReadonlySet<string> },
): object[] {
  if (part.type !== 'tool_result') {
    lose(part, losses);
    return [];
  }
  const { callId, content, isError, cache } = part;
  if (cache) losses.add('cache_control');
  if (isError) losses.add('tool_result_errors');
  const type = custom.has(callId) ? 'custom_tool_call_output' : 'function_call_output';
  return [{ type, call_id: callId, output: writeContent(content, losses) }];
}

/** The form that every server takes where there is nothing but a text. */
function writeContent(
  parts: readonly (Part | ToolResultPart['content'][number])[],
  losses: Losses,
): unknown {
  const content = parts.flatMap((part): Item[] => {
    const written = writePart(part, losses);
    if (!written) lose(part, losses);
    return written ? [written] : [];
  });
  const [first] = content;
  if (!first) return '';
  return content.length === 1 && first['type'] === 'input_text' ? first['text'] : content;
}

function writePart(part: Part, losses: Losses): Item | undefined {
  if (part.type === 'text') return writeText(part, losses);
  if (part.type === 'image') return writeImage(part, losses);
  return part.type === 'document' ? writeDocument(part, losses) : ownValue(part);
}

function writeText({ text, cache, citations }: TextPart, losses: Losses): Item {
  if (citations) losses.add('citations');
  if (cache) losses.add('cache_control');
  return { type: 'input_text', text };
}

function writeImage({ source, detail = 'auto', cache }: ImagePart, losses: Losses): Item {
  if (cache) losses.add('cache_control');
  return { type: 'input_image', detail, image_url: writeUrl(source) };
}

function writeDocument({ source, name, cache }: DocumentPart, losses: Losses): Item {
  if (cache) losses.add('cache_control');
  if (source.type === 'text') {
    if (name !== undefined) losses.add('document_names');
    return { type: 'input_text', text: source.text };
  }
  return source.type === 'url'
    ? { type: 'input_file', ...defined({ filename: name }), file_url: source.url }
    : {
        type: 'input_file',
        filename: name ?? fileName(source.mediaType),
        file_data: writeUrl(source),
      };
}

function ownValue(part: Part): Item | undefined {
  return part.type === 'opaque' && part.origin === 'responses' ? (part.value as Item) : undefined;
}

/** Declares what a part that cannot be said there would have been. */
function lose(part: Part, losses: Losses): void {
  const feature = LOST[part.type];
  if (feature) losses.add(feature);
}

const LOST: Partial<Record<Part['type'], Feature>> = {
  audio: 'audio',
  document: 'documents',
  image: 'images',
  opaque: 'builtin_tools',
  reasoning: 'reasoning_signatures',
};
