# Evaluates one script of SQLite's own tests, and writes down each SQL text that it gives a connection.
#
#   tclsh sqlite_tests.tcl FOLDER SCRIPT RECORD
#
# FOLDER is where the script stands. RECORD gets a line for each text, "text", "open" or "defined", the connection
# and the number of characters, and then as many characters: a text, nothing, or the name of a function or a
# collation. The commands of SQLite's tester.tcl stand in for themselves: nothing is compared, files are databases in
# memory, and what a test program would have to be built for is nothing.
package require sqlite3

lassign $argv ::testdir script record
set ::record [open $record w]
fconfigure $::record -encoding utf-8 -translation lf
proc note {kind connection text} {
  puts $::record "$kind $connection [string length $text]"
  puts $::record $text
}

rename sqlite3 connect
proc sqlite3 {args} {
  if {[llength $args] == 0 || [string match -* [lindex $args 0]]} { return [connect {*}$args] }
  set name [lindex $args 0]
  catch {$name close}
  connect real_$name :memory:
  note open $name ""
  proc ::$name {what args} [string map [list NAME $name] {
    switch -- $what {
      eval - one - onecolumn - exists { note text NAME [lindex $args 0] }
      func - function - collate { note defined NAME [lindex $args 0] }
      backup - restore - deserialize - enable_load_extension { return }
      close { catch {rename real_NAME {}}; rename ::NAME {}; return }
    }
    uplevel 1 [list real_NAME $what {*}$args]
  }]
  return
}

rename source evaluate
proc source {path} {
  if {[file tail $path] in {tester.tcl malloc_common.tcl wal_common.tcl lock_common.tcl thread_common.tcl}} return
  uplevel 1 [list evaluate $path]
}

proc reset_db {} { catch {db close}; sqlite3 db test.db }
proc execsql {sql {connection db}} { uplevel 1 [list $connection eval $sql] }
proc catchsql {sql {connection db}} {
  set failed [catch {uplevel 1 [list $connection eval $sql]} result]
  list $failed $result
}
proc execsql2 {sql} {
  set result {}
  db eval $sql row { foreach name $row(*) { lappend result $name $row($name) } }
  return $result
}
proc do_test {name body args} { catch {uplevel #0 $body} }
proc do_execsql_test {args} {
  set connection db
  if {[lindex $args 0] eq "-db"} { set connection [lindex $args 1]; set args [lrange $args 2 end] }
  catch {uplevel #0 [list $connection eval [lindex $args 1]]}
}
proc do_catchsql_test {name sql args} { catch {uplevel #0 [list db eval $sql]} }
proc do_timed_execsql_test {args} { do_execsql_test {*}$args }
proc do_select_tests {prefix args} {
  while {[string match -* [lindex $args 0]]} { set args [lrange $args 2 end] }
  foreach {name sql expected} [lindex $args 0] { catch {uplevel #0 [list db eval [uplevel 1 [list subst $sql]]]} }
}

# What the library of this Tcl has not, or what no server has.
set ::without {
  fts1 fts2 fts3 fts3_unicode fts5 rtree icu stat3 stat4 incrblob memdebug codec zipvfs shared_cache memorymanage
  utf16 threadsafe mutex autovacuum vacuum trace progress attach tclvar uri unlock_notify vtab
}
proc has {capability} { expr {$capability ni $::without} }
proc ifcapable {condition body {otherwise else} {other {}}} {
  set holds 1
  catch {
    regsub -all {\w+} $condition {[has &]} asked
    set holds [uplevel #0 [list expr [subst -nobackslashes -novariables $asked]]]
  }
  set code [catch {uplevel 1 [expr {$holds ? $body : $other}]} result]
  return -code $code $result
}
trace add variable ::sqlite_options read {apply {{array key operation} {
  if {$key ne "" && ![info exists ::sqlite_options($key)]} { set ::sqlite_options($key) [has $key] }
}}}

array set ::sqlite_options {default_autovacuum 0 default_cache_size -2000}
set ::TEMP_STORE 1
set ::AUTOVACUUM 0
foreach {limit value} {
  COLUMN 2000 VARIABLE_NUMBER 32766 EXPR_DEPTH 1000 COMPOUND_SELECT 500 LENGTH 1000000000 FUNCTION_ARG 127
  SQL_LENGTH 1000000000 ATTACHED 10
} { set ::SQLITE_MAX_$limit $value }
foreach counter {search sort like} { set ::sqlite_${counter}_count 0 }
set ::sqlite_current_time 0
proc isquick {} { return 1 }
proc working_64bit_int {} { return 1 }
proc set_test_counter {args} { return 0 }
proc sqlite3_db_config {args} { return 0 }
proc unknown {args} { return "" }

set ::argv {}
sqlite3 db test.db
catch {uplevel #0 [list evaluate [file join $::testdir $script]]}
close $::record
exit 0
