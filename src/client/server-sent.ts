/** One block of a stream of server-sent events. */
export interface Block {
  /** Position that it moves the stream to; undefined: it stays. */
  id?: string;
  event?: string;
  /** Undefined: a comment, which carries no event. */
  data?: string;
  /** Milliseconds to wait before connecting again. */
  retry?: number;
}

/** Takes server-sent events apart, piece by piece as they come. */
export class BlockReader {
  #text = '';
  #lines: string[] = [];

  /** The blocks that are whole with this piece. */
  push(piece: string): Block[] {
    this.#text += piece;
    const blocks: Block[] = [];
    for (;;) {
      const end = /\r\n|\n|\r(?!$)/.exec(this.#text);
      if (end === null) return blocks;
      const line = this.#text.slice(0, end.index);
      this.#text = this.#text.slice(end.index + end[0].length);
      if (line !== '') this.#lines.push(line);
      else if (this.#lines.length > 0) {
        blocks.push(blockOf(this.#lines));
        this.#lines = [];
      }
    }
  }
}

function blockOf(lines: readonly string[]): Block {
  const block: Block = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const name = colon < 0 ? line : line.slice(0, colon);
    const rest = colon < 0 ? '' : line.slice(colon + 1);
    const value = rest.startsWith(' ') ? rest.slice(1) : rest;
    if (name === 'data') block.data = block.data === undefined ? value : `${block.data}\n${value}`;
    else if (name === 'id') block.id = value;
    else if (name === 'event') block.event = value;
    else if (name === 'retry' && /^\d+$/.test(value)) block.retry = Number(value);
  }
  return block;
}
