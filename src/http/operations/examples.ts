/** A scenario and a run that it passes, for the examples of operations. */
export const EXAMPLE_SCENARIO = {
  key: 'restart-nginx',
  validation: {
    job: [{ label: 'is resolved', validator: 'job_resolution_status', pattern: 'success' }],
    tasks: [
      {
        label: 'restarts nginx',
        validator: 'pattern_match',
        where: 'executed_commands',
        pattern: 'systemctl restart nginx',
      },
    ],
  },
};

export const EXAMPLE_RUN = {
  id: 'run-1',
  job: { resolution_status: 'success', resolution: 'nginx answers again' },
  tasks: [{ id: 'task-1', commands: ['systemctl restart nginx'], exit_codes: [0] }],
};
