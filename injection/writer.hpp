// The writer thread: everything that reaches the disk goes through it.
#pragma once

#include "injection/recorder.hpp"

namespace gprofml::injection {

enum class WriteReason {
  start,     ///< the first facts, before there is a thread
  periodic,  ///< first often, later ten times a second, and when something fills up
  finish,    ///< the program ends
};

/// Writes what has come in as one or more chunks. False when the spool takes no more.
bool write_pass(Recorder& recorder, WriteReason reason);

/// After write_pass() has failed: says so, in the spool too if a few bytes still fit.
void write_last_words(Recorder& recorder);

bool start_writer(Recorder& recorder);

/// Writes a thread with the name that the system has for it, once.
void introduce_thread(RecordStream& stream, std::uint32_t tid);
/// Writes a thread with the name that the program gives it.
void name_thread(RecordStream& stream, std::uint32_t tid, const char* name, std::size_t bytes);

/// Writes the ends of ranges that other threads have started: after all rings have been read, so
/// that they stand behind their starts. (A start was in its ring before its end was in another.)
void write_deferred_ends(RecordStream& stream);
/// Drops those that a forked child has inherited.
void forget_deferred_ends();

/// The number of a domain; written when the spool does not know it yet.
std::uint32_t domain_id(RecordStream& stream, const Domain& domain);

/// Writes the schemas, counters and strings that were registered since the last call.
void write_registrations(RecordStream& stream);
/// Colour and number of payloads of a push, mark or start; `parts` is where its payloads stand.
EventExtras extras_of(const NamedEvent& event, const unsigned char*& parts);
/// Writes the payloads of a push, mark or start behind its own record.
void write_payloads(RecordStream& stream, const EventRing& ring, const NamedEvent& event,
                    const EventExtras& extras, const unsigned char* parts);
/// The same for a pop or an end, in front of its record.
void write_payloads(RecordStream& stream, const EventRing& ring, const PayloadEvent& event);
void write_category(RecordStream& stream, const CategoryNameEvent& event);
void write_sample(RecordStream& stream, const EventRing& ring, const CounterSampleEvent& event);
/// Notes what of payloads and counters was lost since the last call.
void write_nvtx_losses(Recorder& recorder);

/// Turns one ring event into records.
void write_event(RecordStream& stream, EventRing& ring, const EventHeader& event);

}  // namespace gprofml::injection
