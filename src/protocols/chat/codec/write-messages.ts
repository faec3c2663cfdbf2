import { collectSteps } from '../../../core/turns/in-turns.ts';
import type { Steps } from '../../../core/turns/in-turns.ts';
import type {
  AudioPart,
  DocumentPart,
  ImagePart,
  MediaSource,
  Part,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../canonical/canonical.ts';
import type { Feature } from '../../features.ts';
import { fileName } from '../../media/file-name.ts';
import { defined } from '../../json-fields.ts';
import { plainMember, restoreDetail } from './reasoning-details.ts';

type Message = Record<string, unknown>;
type Losses = Set<Feature>;

/** The messages of a request; features that they cannot express are added to `losses`. */
export function writeMessages(turns: readonly Turn[], losses: Losses): Steps<Message[]> {
  return collectSteps(turns, (turn) => {
    const { role, name, parts } = turn;
    if (role === 'tool') return writeResults(parts, losses);
    if (role === 'assistant') {
      const message = writeAssistant(parts, losses);
      return isSilent(message) ? [] : [{ ...message, ...defined({ name }) }];
    }
    if (role === 'user')
      return [{ role, content: writeContent(parts, losses), ...defined({ name }) }];
    // `developer` is known to few of the servers that speak chat, and means the same where it is.
    return [
      {
        role: 'system',
        content: joinTexts(parts, { losses, between: '\n\n' }),
        ...defined({ name }),
      },
    ];
  });
}

/** Several texts in one string: not every server takes lists where only text is allowed. */
function joinTexts(
  parts: readonly Part[],
  { losses, between }: { losses: Losses; between: string },
): string {
  const texts: string[] = [];
  for (const part of parts) {
    if (part.type === 'text') texts.push(writeText(part, losses).text);
    else if (part.type === 'document' && part.source.type === 'text')
      texts.push(writeTextDocument(part, part.source.text, losses).text);
    else lose(part, losses);
  }
  return texts.join(between);
}

function writeAssistant(parts: readonly Part[], losses: Losses): Message {
  const texts = parts.filter((part) => part.type === 'text');
  const refusals = parts.filter((part) => part.type === 'refusal');
  const calls = parts.filter((part) => part.type === 'tool_call');
  const content = texts.map((part) => writeText(part, losses).text).join('');
  for (const part of parts) if (!SAID_BY_ASSISTANT.has(part.type)) lose(part, losses);
  const { content: thought, ...reasoning } = writeReasoning(
    parts.filter((part) => part.type === 'reasoning'),
    losses,
  );
  const isSaid = texts.length > 0 || (calls.length === 0 && refusals.length === 0);
  return {
    role: 'assistant',
    content: thought === undefined ? (isSaid ? content : null) : writeThought(thought, content),
    ...(refusals.length > 0 && { refusal: refusals.map(({ text }) => text).join('') }),
    ...reasoning,
    ...(calls.length > 0 && {
      tool_calls: calls.map(writeCall),
    }),
  };
}

/** Content whose first part is reasoning. */
function writeThought(thought: unknown, text: string): Message[] {
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: thought }] };
  return text === '' ? [thinking] : [thinking, { type: 'text', text }];
}

function writeCall({ id, name, arguments: text, custom }: ToolCallPart): Message {
  return custom
    ? { id, type: 'custom', custom: { name, input: text } }
    : { id, type: 'function', function: { name, arguments: text } };
}

/** True where nothing is left of the message. */
function isSilent({ role: _role, content, ...rest }: Message): boolean {
  return content === '' && Object.keys(rest).length === 0;
}

const SAID_BY_ASSISTANT: ReadonlySet<Part['type']> = new Set([
  'text',
  'refusal',
  'tool_call',
  'reasoning',
]);

/** Writes reasoning of the same protocol as it came; a provider would refuse any other. */
function writeReasoning(parts: readonly ReasoningPart[], losses: Losses): Message {
  const own = parts.filter(
    ({ signature }) => signature === undefined || signature.origin === 'chat',
  );
  if (own.length < parts.length) losses.add('reasoning_signatures');
  const details = own.flatMap(({ text, signature }) => {
    const detail = signature && restoreDetail(text, signature);
    return detail ? [detail] : [];
  });
  if (details.length > 0) return { reasoning_details: details };
  const plain: Record<string, string> = {};
  for (const { text, signature } of own) {
    const member = plainMember(signature);
    if (text !== '') plain[member] = (plain[member] ?? '') + text;
  }
  return plain;
}

function writeContent(parts: readonly Part[], losses: Losses): unknown {
  const content = parts.flatMap((part) => {
    const written = writePart(part, losses);
    if (!written) lose(part, losses);
    return written ? [written] : [];
  });
  const [first] = content;
  if (!first) return '';
  return content.length === 1 && first['type'] === 'text' ? first['text'] : content;
}

function writePart(part: Part, losses: Losses): Message | undefined {
  if (part.type === 'text') return writeText(part, losses);
  if (part.type === 'image') return writeImage(part, losses);
  if (part.type === 'document') return writeDocument(part, losses);
  return part.type === 'audio' ? writeAudio(part) : undefined;
}

function writeAudio({ mediaType, data }: AudioPart): Message {
  const format = mediaType === 'audio/mpeg' ? 'mp3' : mediaType.replace(/^audio\//, '');
  return { type: 'input_audio', input_audio: { data, format } };
}

function writeText(
  { text, cache, citations }: TextPart,
  losses: Losses,
): { type: 'text'; text: string } {
  if (citations) losses.add('citations');
  if (cache) losses.add('cache_control');
  return { type: 'text', text };
}

function writeImage({ source, detail, cache }: ImagePart, losses: Losses): Message {
  if (cache) losses.add('cache_control');
  return { type: 'image_url', image_url: { url: toUrl(source), ...defined({ detail }) } };
}

function writeDocument({ source, name, cache }: DocumentPart, losses: Losses): Message | undefined {
  if (source.type === 'text') return writeTextDocument({ name, cache }, source.text, losses);
  if (cache) losses.add('cache_control');
  if (source.type === 'url') return undefined;
  const filename = name ?? fileName(source.mediaType);
  return { type: 'file', file: { filename, file_data: toUrl(source) } };
}

function writeTextDocument(
  { name, cache }: Pick<DocumentPart, 'name' | 'cache'>,
  text: string,
  losses: Losses,
): { type: 'text'; text: string } {
  if (name !== undefined) losses.add('document_names');
  if (cache) losses.add('cache_control');
  return { type: 'text', text };
}

function toUrl(source: MediaSource): string {
  return source.type === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;
}

/** One message a result; their images go into a message of the user's after them. */
function writeResults(parts: readonly Part[], losses: Losses): Message[] {
  const results = parts.filter((part) => part.type === 'tool_result');
  const messages = results.map((result) => ({
    role: 'tool',
    tool_call_id: result.callId,
    content: writeResultText(result, losses),
  }));
  const images = results.flatMap(({ callId, content }) => {
    const shown = content.filter((part) => part.type === 'image');
    if (shown.length === 0) return [];
    losses.add('tool_result_images');
    const caption = { type: 'text', text: `Images in the result of the tool call ${callId}:` };
    return [caption, ...shown.map((image) => writeImage(image, losses))];
  });
  return images.length === 0 ? messages : [...messages, { role: 'user', content: images }];
}

function writeResultText(result: ToolResultPart, losses: Losses): string {
  const { content, isError, cache } = result;
  if (cache) losses.add('cache_control');
  if (isError) losses.add('tool_result_errors');
  const texts = content.filter((part) => part.type !== 'image');
  return joinTexts(texts, { losses, between: '\n' });
}

/** Adds the feature of a part that cannot be expressed to `losses`. */
function lose(part: Part, losses: Losses): void {
  const feature = LOST[part.type];
  if (part.type === 'document' && part.name !== undefined) losses.add('document_names');
  if (part.type === 'document' && part.source.type === 'url') losses.add('document_urls');
  else if (feature) losses.add(feature);
}

const LOST: Partial<Record<Part['type'], Feature>> = {
  opaque: 'builtin_tools',
  reasoning: 'reasoning_signatures',
  document: 'documents',
  image: 'images',
  audio: 'audio',
};
