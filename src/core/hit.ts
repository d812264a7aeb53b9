/** Where a pattern was found, and the text around it. */
interface HitFields {
  where: string;
  /** Absent for fields of the job and the ticket. */
  task?: string | undefined;
  /** Position of the command in its task, from 0. */
  command?: number | undefined;
  exitCode?: number | undefined;
  engine?: string | undefined;
}

/** Text around a match, and whether there is more of it in front and behind. */
export interface Cut {
  text: string;
  before: boolean;
  behind: boolean;
}

/** A hit as it is stored. Dots that stand for what was cut off would make its whole pack two bytes a character. */
export type PackedHit = [
  where: string,
  text: string,
  cut: 0 | 1 | 2 | 3,
  task: string | null,
  command: number | null,
  exitCode: number | null,
  engine: string | null,
];

/** `data` of a result of pattern_match that found something; most results of a batch are of these. */
export class HitData {
  [field: string]: unknown;
  readonly #fields: HitFields;
  readonly #cut: Cut;

  constructor(fields: HitFields, cut: Cut) {
    this.where = fields.where;
    if (fields.task !== undefined) this.task = fields.task;
    this.excerpt = `${cut.before ? '…' : ''}${cut.text}${cut.behind ? '…' : ''}`;
    if (fields.command !== undefined) this.command = fields.command;
    if (fields.exitCode !== undefined) this.exit_code = fields.exitCode;
    if (fields.engine !== undefined) this.engine = fields.engine;
    this.#fields = fields;
    this.#cut = cut;
  }

  /** The same for storing; undefined for what is none. */
  static pack(data: object): PackedHit | undefined {
    if (!(#cut in data)) return undefined;
    const { text, before, behind } = data.#cut;
    const { where, task, command, exitCode, engine } = data.#fields;
    const cut = before ? (behind ? 3 : 1) : behind ? 2 : 0;
    return [where, text, cut, task ?? null, command ?? null, exitCode ?? null, engine ?? null];
  }

  /** Undoes `pack`; anything else comes back as it is. */
  static unpack(packed: unknown): unknown {
    if (!Array.isArray(packed) || packed.length !== 7 || typeof packed[1] !== 'string') return packed;
    const [where, text, cut, task, command, exitCode, engine] = packed as PackedHit;
    const data: Record<string, unknown> = { where };
    if (task !== null) data.task = task;
    data.excerpt = `${cut & 1 ? '…' : ''}${text}${cut & 2 ? '…' : ''}`;
    if (command !== null) data.command = command;
    if (exitCode !== null) data.exit_code = exitCode;
    if (engine !== null) data.engine = engine;
    return data;
  }
}
