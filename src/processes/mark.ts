/** What tells a process of ours from any other, also when it has left its group and its parent is gone. */
export const MARK = 'SWITCHBOARD_AGENT_MARK';
