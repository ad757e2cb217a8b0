/**
 * Tags: how everything that a fleet creates is found again.
 *
 * Invariant: tags are part of the request that creates a thing, never a second request, so nothing exists without them.
 */
import type { ResourceType, TagSpecification } from '@aws-sdk/client-ec2';

/** What the tags of a fleet say. */
export interface Tagged {
  fleet: string;
  /** `nats`: the NATS server of the fleet's relays. */
  role: 'swarm' | 'relay' | 'nats';
  owner: string;
  deadlineMs: number;
}

const TAG = { fleet: 'sprites:fleet', owner: 'sprites:owner', deadline: 'sprites:deadline', role: 'sprites:role' };

/** Matches what belongs to this fleet; without a name, what belongs to any fleet. */
export function fleetFilter(fleet?: string) {
  return fleet ? { Name: `tag:${TAG.fleet}`, Values: [fleet] } : { Name: 'tag-key', Values: [TAG.fleet] };
}

export function writeTags(
  { fleet, role, owner, deadlineMs }: Tagged,
  resources: readonly ResourceType[],
): TagSpecification[] {
  const Tags = [
    { Key: 'Name', Value: `sprites-${role}-${fleet}` },
    { Key: TAG.fleet, Value: fleet },
    { Key: TAG.owner, Value: owner },
    { Key: TAG.role, Value: role },
    { Key: TAG.deadline, Value: new Date(deadlineMs).toISOString() },
  ];
  return resources.map((ResourceType) => ({ ResourceType, Tags }));
}

/** Shape  missing tags are '' and 0; a thing without a deadline is therefore past it. */
export function readTags(found: readonly { Key?: string; Value?: string }[] = []) {
  const value = (key: string) => found.find(({ Key }) => Key === key)?.Value ?? '';
  return {
    fleet: value(TAG.fleet),
    owner: value(TAG.owner),
    role: value(TAG.role),
    deadlineMs: Date.parse(value(TAG.deadline)) || 0,
  };
}
