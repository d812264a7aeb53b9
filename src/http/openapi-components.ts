import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

const MARK = 'x-component';
const isNode = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Schemas of an OpenAPI document: named ones, and those that name themselves, stand once. */
export class Components {
  readonly schemas: Record<string, JsonSchema> = {};
  readonly #names: ReadonlyMap<z.ZodType, string>;

  constructor(named: readonly (readonly [string, z.ZodType])[]) {
    this.#names = new Map(named.map(([name, schema]) => [schema, name]));
  }

  /** As it stands, where parts of it are taken out. */
  inline(schema: z.ZodType): JsonSchema {
    return this.#written(schema, 'input', false);
  }

  /** For what is sent to the server (`input`), or for what it answers. */
  of(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    return this.#written(schema, io, true);
  }

  #written(schema: z.ZodType, io: 'input' | 'output', isWhole: boolean): JsonSchema {
    const names = this.#names;
    const { $schema: _schema, ...json } = z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      override({ zodSchema, jsonSchema }) {
        const own: unknown = zodSchema;
        const name = names.get(own as z.ZodType);
        if (name !== undefined && (isWhole || own !== schema)) (jsonSchema as JsonSchema)[MARK] = name;
      },
    }) as JsonSchema;
    const { $defs, ...root } = json;
    const aliases = new Map<string, string>();
    for (const name of Object.keys(isNode($defs) ? $defs : {})) {
      aliases.set(name, this.#free(`Part${Object.keys(this.schemas).length + aliases.size + 1}`));
    }
    if (isNode($defs)) this.#keepParts($defs, aliases);
    return this.#placed(root, aliases) as JsonSchema;
  }

  #free(name: string): string {
    return this.schemas[name] === undefined ? name : this.#free(`${name}_`);
  }

  /** Schemas that refer to themselves; the same one is kept once. */
  #keepParts(parts: JsonSchema, aliases: Map<string, string>): void {
    const all = Object.entries(parts);
    for (const [name, part] of all) {
      const own = aliases.get(name) as string;
      const text = JSON.stringify(this.#placed(part, aliases)).replaceAll(`/${own}"`, '/*"');
      const twin = Object.keys(this.schemas).find(
        (each) => JSON.stringify(this.schemas[each]).replaceAll(`/${each}"`, '/*"') === text,
      );
      if (twin === undefined)
        this.schemas[own] = JSON.parse(text.replaceAll('/*"', `/${own}"`)) as JsonSchema;
      else aliases.set(name, twin);
    }
  }

  /** The same with references to what stands among the components. */
  #placed(value: unknown, aliases: ReadonlyMap<string, string>): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#placed(each, aliases));
    if (!isNode(value)) return value;
    const { [MARK]: mark, ...rest } = value;
    const { $ref } = rest;
    if (typeof $ref === 'string' && $ref.startsWith('#/$defs/')) {
      const name = $ref.slice('#/$defs/'.length);
      return { ...rest, $ref: `#/components/schemas/${aliases.get(name) ?? name}` };
    }
    const placed = Object.fromEntries(
      Object.entries(rest).map(([key, inner]) => [key, this.#placed(inner, aliases)]),
    );
    return typeof mark === 'string' ? { $ref: `#/components/schemas/${this.#keep(mark, placed)}` } : placed;
  }

  /** What is sent and what is answered may differ by the same name. */
  #keep(name: string, schema: JsonSchema): string {
    const standing = this.schemas[name];
    if (standing === undefined) this.schemas[name] = schema;
    else if (JSON.stringify(standing) !== JSON.stringify(schema)) return this.#keep(`${name}Input`, schema);
    return name;
  }
}
