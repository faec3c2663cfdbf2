import type { ImagePart, TextPart, Turn } from '../../canonical/canonical.ts';
import type { Members } from '../../json-fields.ts';
import { isJsonObject } from '../../../core/json/value.ts';
import { storedFile } from '../../media/stored-file.ts';
import { readContent } from './read-content.ts';
import type { ContentPlace } from './read-content.ts';
import { readUrl } from './media.ts';

/** Members that mean something only to the provider, or repeat the beginning of the text. */
const UNTOLD: ReadonlySet<string> = new Set(['type', 'id', 'encrypted_content', 'status']);
const PICTURE = 'image_generation_call';
const SCREENSHOT = 'computer_screenshot';
const CONTENT: ReadonlySet<unknown> = new Set(['input_text', 'input_image', 'input_file']);

/**
 * An item that no other protocol has, as text: actions of the provider as words of the assistant,
 * results of the client as words of the user.
 *
 * @throws GatewayError `unsupported_feature` for a file that only the provider knows
 */
export function tellItem(item: Members, { param, unmapped }: ContentPlace): Turn {
  const type = String(item['type']);
  if (!isOfClient(type)) {
    const { result, ...rest } = item;
    const isPicture = type === PICTURE && result !== undefined;
    if (isPicture) unmapped.add(`${param}.${type}.result`);
    return { role: 'assistant', parts: [tell(isPicture ? rest : item)] };
  }
  const { output, ...rest } = item;
  if (isJsonObject(output) && output['type'] === SCREENSHOT)
    return { role: 'user', parts: [tell(rest), ...readScreenshot(output, `${param}.output`)] };
  if (Array.isArray(output) && output.every(isContent)) {
    const content = readContent(output, { param: `${param}.output`, unmapped });
    return { role: 'user', parts: [tell(rest), ...content] };
  }
  return { role: 'user', parts: [tell(item)] };
}

function isOfClient(type: string): boolean {
  return type.endsWith('_output') || type === 'mcp_approval_response';
}

function isContent(part: unknown): boolean {
  return isJsonObject(part) && CONTENT.has(part['type']);
}

function tell(item: Members): TextPart {
  const told = Object.entries(item).filter(([name, value]) => !UNTOLD.has(name) && value !== null);
  const members = told.length > 0 ? ` ${JSON.stringify(Object.fromEntries(told))}` : '';
  return { type: 'text', text: `[${String(item['type'])}]${members}` };
}

function readScreenshot({ image_url: url, file_id: id }: Members, param: string): ImagePart[] {
  if (id !== undefined && id !== null) throw storedFile(`${param}.file_id`);
  if (typeof url !== 'string') return [];
  return [{ type: 'image', source: readUrl(url, `${param}.image_url`) }];
}
