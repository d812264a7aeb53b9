-- Functions for the scripts that keep texts or let go of them; put in front of each of these.
-- A long text is stored in pieces, `<key>:0` and on, and under its key stands how many: byte 1 and the count.
local function pieces_in(content)
  if not content or string.byte(content, 1) ~= 1 then return 0 end
  return tonumber(string.sub(content, 2))
end
local function pieces_of(key) return pieces_in(redis.call('GETRANGE', key, 0, 15)) end
-- Does one thing to a text and to its pieces: 'UNLINK', 'PERSIST', or 'PEXPIRE' with milliseconds.
local function to_whole(command, key, ...)
  for n = 0, pieces_of(key) - 1 do redis.call(command, key .. ':' .. n, ...) end
  redis.call(command, key, ...)
end
-- Whether the pieces are stored which this content of a blob speaks of.
local function has_pieces(p, digest, content)
  for n = 0, pieces_in(content) - 1 do
    if redis.call('EXISTS', p .. 'blob:' .. digest .. ':' .. n) == 0 then return false end
  end
  return true
end
local function lease_pieces(key, content, lease)
  for n = 0, pieces_in(content) - 1 do redis.call('PEXPIRE', key .. ':' .. n, lease) end
end
-- Keeps a blob for one more user, and for `lease` milliseconds at least; `is_user`: it is counted already.
-- The first user needs no count.
local function hold_blob(p, digest, content, lease, is_user)
  local key, uses = p .. 'blob:' .. digest, p .. 'uses:' .. digest
  if redis.call('SET', key, content, 'PX', lease, 'NX') then return lease_pieces(key, content, lease) end
  if not is_user then redis.call('INCR', uses) end
  local left = redis.call('PTTL', key)
  if left < 0 then return end
  if left < lease then
    left = lease
    redis.call('PEXPIRE', key, left)
  end
  redis.call('PEXPIRE', uses, left)
  lease_pieces(key, content, left)
end
-- One user less; the blob goes with the last one.
local function let_blob_go(p, digest)
  local key, uses = p .. 'blob:' .. digest, p .. 'uses:' .. digest
  local others = tonumber(redis.call('GET', uses) or '0')
  if others == 0 then
    to_whole('UNLINK', key)
  elseif others == 1 then
    redis.call('UNLINK', uses)
  else
    redis.call('DECR', uses)
  end
end
-- Lets go of what was recorded for a chunk, but for the stage whose results stand.
local function forget_recorded(p, chunk, kept)
  local alone = p .. 'alone:' .. chunk
  for _, stage in ipairs(redis.call('SMEMBERS', alone)) do
    if stage ~= kept then to_whole('UNLINK', p .. 'rs:' .. chunk .. ':' .. stage) end
  end
  redis.call('UNLINK', p .. 'res:' .. chunk, alone)
end
