export type { ScenarioWithBundle } from './app/opening.js';
export type { BatchRecord } from './core/batch.js';
export type { EvaluationDocument, IndexedEvaluation } from './core/document.js';
export { evaluateDocumentSchema, evaluationDocumentSchema } from './core/document.js';
export { type ErrorCode, type Problem, SluiceError } from './core/problem.js';
export type { Result, RuleResult } from './core/result.js';
export { type RunRecord, runRecordSchema } from './core/run-record.js';
export type { Rule, Scenario } from './core/scenario/model.js';
export { scenarioJsonSchema } from './core/scenario/schema.js';
export { type LoadedScenario, loadScenarios } from './inputs/scenario-files.js';
export {
  createFleet,
  defineScenario,
  type Fleet,
  type FleetOptions,
  type JudgedBatch,
  type JudgeOptions,
} from './library.js';
