/** A name with bidirectional controls, control characters and every kind of line break. */
export const NASTY = 'a\u202eb\nc\u2028\r\nd\u0085e\u001b[31mf\u200fg\u2066h\u061ci\u009bj\u0007k';

/** Anything that must not reach a terminal or a log line; line feeds end lines of ours. */
export const UNPRINTABLE =
  // eslint-disable-next-line no-control-regex -- naming control characters is the point
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;
