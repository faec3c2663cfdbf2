// eslint-disable-next-line no-control-regex -- naming control characters is the point
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * Text from elsewhere without the control characters that could drive the reader's terminal; newlines
 * and tabs stay. Our own colours are put on afterwards, around it.
 */
export function printable(text: string): string {
  return text.replace(CONTROL, '');
}
