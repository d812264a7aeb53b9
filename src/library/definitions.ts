import type { SkillInput, ToolInputDocument, ValidationInputDocument } from '../core/registry/document.js';

/** A tool as a program registers it. */
export type ToolDefinition = Omit<ToolInputDocument, 'kind'> & { kind?: 'tool' };

type Flag = 'read_only' | 'writes' | 'checkpointable';

/** What a validation may say of what it does to the world: nothing (ADR, Relationship to Tool). */
interface ReadOnly {
  read_only?: true;
  writes?: false;
  checkpointable?: false;
}

/** A validation as a program registers it. */
export type ValidationDefinition = Omit<ValidationInputDocument, 'kind' | 'capability' | Flag> &
  ReadOnly & { kind?: 'validation'; capability?: ReadOnly & { network?: boolean } };

/** A skill as a program registers it. */
export type SkillDefinition = Omit<SkillInput, 'kind'> & { kind?: 'skill' };

/** The document as it is, typed where it is written; it is checked when it is registered. */
export const defineTool = (document: ToolDefinition): ToolDefinition => document;

/** The document as it is, typed where it is written; it is checked when it is registered. */
export const defineValidation = (document: ValidationDefinition): ValidationDefinition => document;

/** The document as it is, typed where it is written; it is checked when it is registered. */
export const defineSkill = (document: SkillDefinition): SkillDefinition => document;
