import { eachInSteps } from '../../../core/turns/in-turns.ts';
import type { Steps } from '../../../core/turns/in-turns.ts';
import { fieldOf, listOf, membersOf, textOf } from '../fields.ts';
import type { Members } from '../fields.ts';
import { refuseConfig, unsupported } from './read-config.ts';

/** Files that only the key which uploaded them can read. */
const FILE_STORE = /^https?:\/\/[^/]*\.googleapis\.com\/(?:upload\/)?v\d[^/]*\/files\//i;

/**
 * Throws `unsupported_feature` for members that the contract refuses to translate (contract:
 * Generate-content protocol): inline data that is no image, references to files that are not
 * public, more than one candidate, answers other than text, and cached contents, which only their
 * own provider has.
 */
export function* refuseUntranslatable(body: Members): Steps<void> {
  if (textOf(body, 'cachedContent')) throw unsupported('cachedContent', 'cached contents');
  refuseConfig(body);
  yield* eachInSteps(listOf(body, 'contents'), (content, index) =>
    refuseMedia(listOf(content, 'parts'), `contents[${index}].parts`),
  );
  refuseMedia(listOf(membersOf(body, 'systemInstruction'), 'parts'), 'systemInstruction.parts');
}

function refuseMedia(parts: readonly Members[], path: string): void {
  parts.forEach((part, index) => {
    const own = `${path}[${index}]`;
    refuseInline(part, own);
    refuseFile(part, own);
    const response = membersOf(part, 'functionResponse');
    refuseMedia(listOf(response, 'parts'), `${own}.functionResponse.parts`);
  });
}

function refuseInline(part: Members, path: string): void {
  if (!fieldOf(part, 'inlineData')) return;
  const type = textOf(membersOf(part, 'inlineData'), 'mimeType') ?? '';
  if (!isImage(type)) throw unsupported(`${path}.inlineData.mimeType`, 'inline data but images');
}

function refuseFile(part: Members, path: string): void {
  if (!fieldOf(part, 'fileData')) return;
  const file = membersOf(part, 'fileData');
  const uri = textOf(file, 'fileUri') ?? '';
  const type = textOf(file, 'mimeType') || 'image/*';
  if (!/^https?:\/\//i.test(uri) || !URL.canParse(uri) || FILE_STORE.test(uri))
    throw unsupported(`${path}.fileData.fileUri`, 'files but those at a public http(s) address');
  if (!isImage(type)) throw unsupported(`${path}.fileData.mimeType`, 'referenced files but images');
}

function isImage(mediaType: string): boolean {
  return mediaType.toLowerCase().startsWith('image/');
}
