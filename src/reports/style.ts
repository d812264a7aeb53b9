import type { ReportOptions } from './report.js';

export type Tone = 'good' | 'bad' | 'warn' | 'dim' | 'strong';

const CODES: Readonly<Record<Tone, number>> = { good: 32, bad: 31, warn: 33, dim: 2, strong: 1 };

/** On one line and without control characters, so that no log steers a terminal. */
function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
}

/** Lines of a report for people: indented, cut to the width, coloured only when asked. */
export class Style {
  readonly #options: ReportOptions;

  constructor(options: ReportOptions) {
    this.#options = options;
  }

  line(indent: number, text: string, tone?: Tone): string {
    const width = Math.max(40, this.#options.width) - indent;
    const plain = oneLine(text);
    const characters = plain.length > width ? Array.from(plain) : [];
    const cut = characters.length > width ? `${characters.slice(0, width - 1).join('')}…` : plain;
    const code = tone === undefined || !this.#options.colour ? undefined : CODES[tone];
    return `${' '.repeat(indent)}${code === undefined ? cut : `\u001b[${code}m${cut}\u001b[0m`}\n`;
  }
}

/** `1 run`, `2 runs`. */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : noun.endsWith('s') ? 'es' : 's'}`;
}
