#include "pair.h"

// The health strip. A finding of a rule that no row names gets a row of its own.
const pair_check pair_checks[] = {
    {"cxi", "Link up, by codewords",
     "rate(sum(hni_pcs_good_cw, hni_pcs_corrected_cw, hni_pcs_uncorrected_cw)) * 5440 / R", "%", "link-flaps"},
    {"cxi", "Uncorrected codewords per s", "rate(hni_pcs_uncorrected_cw)", "x", "uncorrected-codewords"},
    {"cxi", "Corrected codewords per s", "rate(hni_pcs_corrected_cw)", "x", "corrected-codewords"},
    {"cxi", "Link-level replays per s", "rate(sum(hni_llr_tx_replay_event, hni_llr_rx_replay_event))", "x",
     "link-retry"},
    {"cxi", "Paused, of the time", "max(hni_tx_paused_*, hni_rx_paused_*) / (CLK * T)", "%",
     "egress-paused, ingress-paused, ingress-buffer-stall"},
    {"cxi", "Retries, time-outs, NACKs per s",
     "rate(sum(pct_retry_srb_requests, pct_spt_timeouts, pct_sct_timeouts, pct_no_tct_nacks, pct_no_trs_nacks, "
     "pct_no_mst_nacks, pct_resource_busy, pct_trs_rsp_nack_drops))",
     "x", "retries, network-timeouts, target-resources, nack-drops, cancelled"},
    {"cxi", "PCIe writes, cycles blocked each", "parbs_tarb_pi_posted_blocked_cnt / parbs_tarb_pi_posted_pkts", "x",
     "host-write-back-pressure"},
};
const size_t pair_check_count = sizeof pair_checks / sizeof *pair_checks;

// The heat map; rows of one band share a scale.
const pair_rate pair_rates[] = {
    {"cxi", 0, "Bytes received", "bytes/s", "rate(hni_sts_rx_ok_octets)", false},
    {"cxi", 0, "Bytes sent", "bytes/s", "rate(hni_sts_tx_ok_octets)", false},
    {"cxi", 1, "Packets received", "packets/s", "rate(sum(hni_rx_ok_ieee, hni_rx_ok_opt))", false},
    {"cxi", 1, "Packets sent", "packets/s", "rate(sum(hni_tx_ok_ieee, hni_tx_ok_opt))", false},
    {"cxi", 1, "of these RDMA, both ways", "packets/s", "rate(sum(hni_rx_ok_opt, hni_tx_ok_opt))", false},
    {"cxi", 1, "of these TCP, received", "packets/s", "rate(ixe_rx_tcp_pkt)", false},
    {"cxi", 1, "PCIe writes to host", "packets/s", "rate(parbs_tarb_pi_posted_pkts)", false},
    {"cxi", 1, "PCIe reads from host", "packets/s", "rate(parbs_tarb_pi_non_posted_pkts)", false},
    {"cxi", 2, "Send commands", "events/s", "rate(cq_success_tx_cntr)", false},
    {"cxi", 2, "Interrupts", "events/s", "rate(ee_tarb_irq_req_cntr)", false},
    {"cxi", 2, "Address-translation misses", "events/s", "rate(sum(atu_cache_miss_?))", false},
    {"cxi", 3, "PCIe write path blocked", "cycles/s", "rate(parbs_tarb_pi_posted_blocked_cnt)", false},
    {"cxi", 3, "Transmit stalled, link credits", "cycles/s", "rate(hni_tx_stall_llr)", false},
    {"cxi", 3, "Paused, both ways", "cycles/s", "rate(max(hni_rx_paused_*, hni_tx_paused_*))", false},
    {"cxi", 4, "FEC-corrected codewords", "events/s", "rate(hni_pcs_corrected_cw)", true},
    {"cxi", 4, "Uncorrected codewords", "events/s", "rate(hni_pcs_uncorrected_cw)", true},
    {"cxi", 4, "Retries, time-outs, NACKs", "events/s",
     "rate(sum(pct_retry_srb_requests, pct_spt_timeouts, pct_sct_timeouts, pct_no_tct_nacks, pct_no_trs_nacks, "
     "pct_no_mst_nacks, pct_resource_busy, pct_trs_rsp_nack_drops))",
     true},
    {"netdev", 0, "Bytes received", "bytes/s", "rate(rx_bytes)", false},
    {"netdev", 0, "Bytes sent", "bytes/s", "rate(tx_bytes)", false},
    {"netdev", 1, "Packets received", "packets/s", "rate(rx_packets)", false},
    {"netdev", 1, "Packets sent", "packets/s", "rate(tx_packets)", false},
    {"netdev", 1, "Multicast received", "packets/s", "rate(multicast)", false},
    {"netdev", 2, "Receive errors", "events/s", "rate(rx_errors)", true},
    {"netdev", 2, "Send errors", "events/s", "rate(tx_errors)", true},
    {"netdev", 2, "Received and dropped", "events/s", "rate(sum(rx_dropped, rx_missed_errors, rx_nohandler))", true},
    {"netdev", 2, "Dropped before sending", "events/s", "rate(tx_dropped)", true},
    {"rdma", 0, "Bytes received", "bytes/s", "rate(first(port_rcv_data, port_rcv_data_64, rx_bytes))", false},
    {"rdma", 0, "Bytes sent", "bytes/s", "rate(first(port_xmit_data, port_xmit_data_64, tx_bytes))", false},
    {"rdma", 1, "Packets received", "packets/s", "rate(first(port_rcv_packets, port_rcv_packets_64, rx_pkts))", false},
    {"rdma", 1, "Packets sent", "packets/s", "rate(first(port_xmit_packets, port_xmit_packets_64, tx_pkts))", false},
    {"rdma", 2, "Waiting to send", "ticks/s", "rate(port_xmit_wait)", false},
    {"rdma", 3, "Congestion marks received", "events/s", "rate(np_ecn_marked_roce_packets)", true},
    {"rdma", 3, "Congestion notices handled", "events/s", "rate(rp_cnp_handled)", true},
    {"rdma", 3, "Out of sequence", "events/s", "rate(sum(out_of_sequence, packet_seq_err))", true},
    {"rdma", 3, "Time-outs", "events/s", "rate(local_ack_timeout_err)", true},
    {"rdma", 3, "Receiver not ready", "events/s", "rate(sum(out_of_buffer, rnr_nak_retry_err))", true},
    {"rdma", 3, "Symbol and receive errors", "events/s", "rate(sum(symbol_error, port_rcv_errors))", true},
    {"rdma", 3, "Dropped before sending", "events/s", "rate(port_xmit_discards)", true},
};
const size_t pair_rate_count = sizeof pair_rates / sizeof *pair_rates;
