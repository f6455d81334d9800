#!/usr/bin/env python3
"""Small ONNX models with onnxruntime's results.        onnx_cases.py OUT

Writes OUT/NAME/{model.onnx, in_N.npy, want_N.npy} and lines for OUT/cases.txt (test/suites/README.md): operators as older operator sets
have them (old_*), operators between DequantizeLinear and QuantizeLinear (qdq_*, exact), loops whose length the numbers decide (loop_*).
What onnxruntime does not take is named and left out.  Needs onnx, onnxruntime, numpy; archive test/suites/onnx.tar.xz was made with it.
"""
import os, sys
import numpy as np, onnx, onnxruntime as o
from onnx import helper as h, TensorProto as T, numpy_helper as H

O, lines, seen, rng = sys.argv[1], [], {}, np.random.default_rng(3)
V = h.make_tensor_value_info


def emit(name, m, inputs, tolerance="0 1e-9", optimized=True):
    inputs = [np.asarray(x) for x in inputs]
    m.ir_version = min(m.ir_version, 10)
    tolerance = "1e-5 1e-6" if name.startswith("loop_") else tolerance
    so = o.SessionOptions()
    so.log_severity_level = 4
    if not optimized:
        so.graph_optimization_level = o.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = o.InferenceSession(m.SerializeToString(), so)
        results = session.run(None, {i.name: x for i, x in zip(session.get_inputs(), inputs)})
    except Exception as e:
        print("left out:", name, str(e).split("\n")[0][:150])
        return
    d = f"{O}/{name}"
    os.makedirs(d, exist_ok=True)
    onnx.save(m, d + "/model.onnx")
    for what, arrays in (("in", inputs), ("want", results)):
        for k, x in enumerate(arrays):
            np.save(f"{d}/{what}_{k}.npy", x)
    lines.append(f"{name} {len(inputs)} {len(results)} {tolerance}")


R = lambda *s: (rng.random(s) * 4 - 2).astype(np.float32)
I = lambda *v: np.array(v, np.int64)


def case(op, opset, ins, consts={}, nout=1, name=None, **attrs):
    """ins: arrays in order, None: left out; consts: which of them are initializers."""
    n = f"old_{name or op.lower()}_{opset}"
    seen[n] = seen.get(n, 0) + 1
    names, inputs, init, feed = [], [], [], []
    for j, x in enumerate(ins):
        names.append("" if x is None else f"x{j}")
        if x is None:
            continue
        x = np.asarray(x)
        if j in consts:
            init.append(H.from_array(x, f"x{j}"))
        else:
            inputs.append(V(f"x{j}", h.np_dtype_to_tensor_dtype(x.dtype), x.shape))
            feed.append(x)
    outs = [f"y{k}" for k in range(nout)]
    g = h.make_graph([h.make_node(op, names, outs, name="it", **attrs)], "g", inputs, [h.make_empty_tensor_value_info(y) for y in outs], init)
    m = h.make_model(g, opset_imports=[h.make_opsetid("", opset)])
    m.ir_version = 8 if opset < 19 else 9 if opset < 21 else 10
    emit(f"{n}_{seen[n]}", m, feed, "1e-4 1e-5", False)


# operator sets
x3=R(2,3,4); x4=R(2,3,5,6)
for op in ('Softmax','LogSoftmax','Hardmax'):
    for v in (7,11,12,13,18):
        case(op,v,[x3])
        for a in (0,1,2): case(op,v,[x3],axis=a)
        if v>=11: case(op,v,[x4],axis=-2)
case('Clip',7,[x3],min=-.5,max=.7); case('Clip',7,[x3],min=-.5); case('Clip',10,[x3],max=.1)
for v in (11,12,13): case('Clip',v,[x3,np.float32(-.5),np.float32(.7)],{1:1,2:1}); case('Clip',v,[x3,None,np.float32(.7)],{2:1}); case('Clip',v,[x3,np.float32(-.5)],{1:1}); case('Clip',v,[x3,np.float32(-.5),np.float32(.7)])
case('Clip',12,[np.arange(-5,7,dtype=np.int64),I(-2)[0],I(3)[0]],{1:1,2:1}); case('Clip',12,[np.arange(-5,7,dtype=np.int8),np.int8(-2),np.int8(3)],{1:1,2:1})
for v in (7,10): case('Dropout',v,[x3],ratio=.4); case('Dropout',v,[x3],nout=2,ratio=.4)
for v in (12,13): case('Dropout',v,[x3,np.float32(.4)],{1:1},nout=2); case('Dropout',v,[x3,np.float32(.4),np.array(False)],{1:1,2:1})
bn=[x4,R(3),R(3),R(3),np.abs(R(3))+.1]
for v in (7,9,14,15): case('BatchNormalization',v,bn,{1:1,2:1,3:1,4:1},epsilon=1e-3); case('BatchNormalization',v,bn,epsilon=1e-3)
for v in (14,15): case('BatchNormalization',v,bn,{1:1,2:1,3:1,4:1},nout=3,training_mode=1,momentum=.7)
case('BatchNormalization',9,[R(4,3),*bn[1:]],{1:1,2:1,3:1,4:1}); case('BatchNormalization',15,[R(2,3,7),*bn[1:]],{1:1,2:1,3:1,4:1})
for v in (7,10):
    for md in ('constant','reflect','edge'): case('Pad',v,[x4],pads=[0,0,1,2,0,0,2,1],mode=md,value=1.5)
    case('Pad',v,[x4],pads=[0,0,-1,2,0,1,2,-1],value=.5)
for v in (11,13,18,19,21):
    for md in ('constant','reflect','edge'): case('Pad',v,[x4,I(0,0,1,2,0,0,2,1),np.float32(1.5)],{1:1,2:1},mode=md)
    case('Pad',v,[x4,I(0,0,-1,2,0,1,2,-1)],{1:1})
for v in (18,19,21): case('Pad',v,[x4,I(1,2,2,1),None,I(2,-1)],{1:1,3:1}); case('Pad',v,[x4,I(1,2,2,1),np.float32(3),I(-1,1)],{1:1,2:1,3:1},mode='constant')
case('Pad',19,[x4,I(0,0,1,2,0,0,2,1)],{1:1},mode='wrap'); case('Pad',19,[x4,I(0,0,-1,2,0,0,2,1)],{1:1},mode='wrap')
xs=np.abs(x4)+.1
for op in ('ReduceSum','ReduceMean','ReduceMax','ReduceMin','ReduceProd','ReduceL1','ReduceL2','ReduceLogSum','ReduceLogSumExp','ReduceSumSquare'):
    vs=(7,11) if op=='ReduceSum' else (7,11,13)
    for v in vs: case(op,v,[xs],axes=[1,3],keepdims=0); case(op,v,[xs],keepdims=1); case(op,v,[xs],axes=[2])
    case(op,11,[xs],axes=[-1,0])
    for v in ((13,18) if op=='ReduceSum' else (18,)):
        case(op,v,[xs,I(1,-1)],{1:1},keepdims=0); case(op,v,[xs]); case(op,v,[xs],noop_with_empty_axes=1); case(op,v,[xs,np.zeros(0,np.int64)],{1:1},noop_with_empty_axes=1); case(op,v,[xs,np.zeros(0,np.int64)],{1:1},keepdims=0)
case('ReduceMax',12,[np.arange(24,dtype=np.int8).reshape(2,3,4)],axes=[1]); case('ReduceSum',13,[np.arange(24,dtype=np.int64).reshape(2,3,4),I(0)],{1:1})
for v in (7,11): case('Split',v,[x4],nout=2,axis=3); case('Split',v,[x4],nout=3,axis=2,split=[1,3,1])
case('Split',11,[x4],nout=2,axis=-1); case('Split',13,[x4,I(1,3,1)],{1:1},nout=3,axis=2); case('Split',13,[x4],nout=3,axis=1)
case('Split',18,[x4],nout=2,axis=2,num_outputs=2); case('Split',18,[x4],nout=4,axis=3,num_outputs=4); case('Split',18,[x4,I(1,4)],{1:1},nout=2,axis=2)
q=R(1,3,1,2)
case('Squeeze',7,[q]); case('Squeeze',7,[q],axes=[2]); case('Squeeze',11,[q],axes=[-2]); case('Squeeze',13,[q,I(0,-2)],{1:1}); case('Squeeze',13,[q])
case('Unsqueeze',7,[x3],axes=[0,3]); case('Unsqueeze',11,[x3],axes=[-1,1]); case('Unsqueeze',13,[x3,I(-1,0)],{1:1}); case('Unsqueeze',13,[x3,I(3,1)],{1:1})
case('Slice',7,[x4],starts=[1,0],ends=[4,1000],axes=[2,3]); case('Slice',7,[x4],starts=[-3],ends=[-1],axes=[3]); case('Slice',7,[x4],starts=[0,1],ends=[2,3])
for v in (10,11,13): case('Slice',v,[x4,I(1,5),I(4,-1000),I(2,3),I(1,-2)],{1:1,2:1,3:1,4:1}); case('Slice',v,[x4,I(0,1),I(2,3)],{1:1,2:1}); case('Slice',v,[x4,I(-1),I(-2**62),I(-1),I(-1)],{1:1,2:1,3:1,4:1})
case('TopK',7,[x4],nout=2,k=2,axis=-1); case('TopK',10,[x4,I(2)],{1:1},nout=2,axis=1)
for v in (11,24): case('TopK',v,[x4,I(3)],{1:1},nout=2,axis=2,largest=0); case('TopK',v,[x4,I(3)],{1:1},nout=2)
for md in ('nearest','linear'): case('Upsample',7,[x4],mode=md,scales=[1.,1.,2.,3.]); case('Upsample',9,[x4,np.array([1,1,2,1.5],np.float32)],{1:1},mode=md); case('Resize',10,[x4,np.array([1,1,2,1.5],np.float32)],{1:1},mode=md); case('Resize',10,[x4,np.array([1,1,.6,.5],np.float32)],{1:1},mode=md)
roi=np.zeros(0,np.float32)
for v in (11,13,18,19):
    for md in ('nearest','linear','cubic'):
        for ct in ('half_pixel','pytorch_half_pixel','align_corners','asymmetric')+(('half_pixel_symmetric',) if v>=19 else ())+(('tf_half_pixel_for_nn',) if v==11 and md=='nearest' else ()):
            for sc in ([1,1,2,2],[1,1,1.7,.6]):
                kw=dict(mode=md,coordinate_transformation_mode=ct)
                case('Resize',v,[x4,roi,np.array(sc,np.float32)],{1:1,2:1},**kw)
            case('Resize',v,[x4,roi,np.zeros(0,np.float32) if v<13 else None,I(2,3,7,4)],{1:1,2:1,3:1},**kw)
for nm in ('round_prefer_floor','round_prefer_ceil','floor','ceil'): case('Resize',13,[x4,roi,np.array([1,1,1.7,2.5],np.float32)],{1:1,2:1},mode='nearest',nearest_mode=nm)
case('Resize',18,[x4,None,np.array([2,3],np.float32)],{2:1},mode='linear',axes=[2,3]); case('Resize',18,[x4,None,None,I(10,10)],{3:1},mode='linear',axes=[2,3],keep_aspect_ratio_policy='not_larger'); case('Resize',18,[x4,None,None,I(10,10)],{3:1},mode='nearest',axes=[2,3],keep_aspect_ratio_policy='not_smaller')
for aa in ('linear','cubic'): case('Resize',18,[x4,None,np.array([1,1,.6,.5],np.float32)],{2:1},mode=aa,antialias=1); case('Resize',18,[x4,None,np.array([1,1,1.6,1.5],np.float32)],{2:1},mode=aa,antialias=1)
case('Resize',13,[x4,roi,np.array([1,1,1.6,.7],np.float32)],{1:1,2:1},mode='cubic',cubic_coeff_a=-.5,exclude_outside=1)
case('Resize',13,[x4,np.array([0,0,.2,.1,1,1,.8,1.2],np.float32),None,I(2,3,4,4)],{1:1,3:1},mode='linear',coordinate_transformation_mode='tf_crop_and_resize',extrapolation_value=9.)
for v in (9,11): case('OneHot',v,[I(0,2,-1),I(4)[0],np.array([.5,2],np.float32)],{1:1,2:1}) ; case('OneHot',11,[np.array([[0,2],[-4,5]],np.int64),I(4),np.array([0,1],np.float32)],{1:1,2:1},axis=0)
for v in (7,9,11,13): case('Gemm',v,[R(3,4),R(4,5),R(5)],{1:1,2:1},alpha=.5,beta=2.); case('Gemm',v,[R(4,3),R(5,4),R(3,1)],transA=1,transB=1)
for v in (11,13): case('Gemm',v,[R(3,4),R(4,5)]); case('Gemm',v,[R(3,4),R(4,5),np.float32(2)])
for a,b in ((R(4),R(4)),(R(3,4),R(4)),(R(4),R(2,4,5)),(R(2,1,3,4),R(5,4,2))): case('MatMul',9,[a,b]); case('MatMul',13,[a,b])
p1=R(1,2,7,8)
for v in (7,10,11,19,22):
    case('AveragePool',v,[p1],kernel_shape=[3,3],pads=[1,1,1,1],strides=[2,2]); case('AveragePool',v,[p1],kernel_shape=[3,3],pads=[1,0,1,2],strides=[2,2],count_include_pad=1)
    case('AveragePool',v,[p1],kernel_shape=[2,3],auto_pad='SAME_UPPER',strides=[2,2]); case('AveragePool',v,[p1],kernel_shape=[2,3],auto_pad='SAME_LOWER')
    if v>=10: case('AveragePool',v,[p1],kernel_shape=[3,3],ceil_mode=1,strides=[2,2]); case('AveragePool',v,[p1],kernel_shape=[3,2],ceil_mode=1,strides=[3,3],pads=[1,1,1,1],count_include_pad=1)
    if v>=19: case('AveragePool',v,[p1],kernel_shape=[2,2],dilations=[2,3])
for v in (7,8,10,11,12,22):
    case('MaxPool',v,[p1],kernel_shape=[3,3],pads=[1,1,1,1],strides=[2,2])
    if v>=8: case('MaxPool',v,[p1],nout=2,kernel_shape=[3,2],strides=[2,2]); case('MaxPool',v,[p1],nout=2,kernel_shape=[3,2],storage_order=1)
    if v>=10: case('MaxPool',v,[p1],kernel_shape=[2,2],dilations=[2,2],ceil_mode=1,strides=[2,2])
case('MaxPool',12,[np.arange(56,dtype=np.int8).reshape(1,1,7,8)],kernel_shape=[2,2])
ct=[R(1,3,4,5),R(3,2,3,3),R(2)]
for v in (7,11): case('ConvTranspose',v,ct,{1:1,2:1},strides=[2,2],pads=[1,1,1,1],output_padding=[1,0]); case('ConvTranspose',v,ct,{1:1,2:1},strides=[2,2],output_shape=[9,11]); case('ConvTranspose',v,ct,{1:1,2:1},strides=[2,2],auto_pad='SAME_UPPER'); case('ConvTranspose',v,ct,{1:1,2:1},dilations=[2,1],pads=[0,1,2,0])
for v in (7,13): case('LRN',v,[R(1,6,3,3)],size=3,alpha=.1,beta=.7,bias=1.5); case('LRN',v,[R(1,6,3,3)],size=4)
case('InstanceNormalization',7,[x4,R(3),R(3)],{1:1,2:1}); case('GroupNormalization',21,[R(2,6,4),R(6),R(6)],{1:1,2:1},num_groups=3); case('GroupNormalization',18,[R(2,6,4),R(3),R(3)],{1:1,2:1},num_groups=3)
for v in (7,11,12,13): case('ArgMax',v,[np.round(x4)],axis=2,keepdims=0); case('ArgMin',v,[np.round(x4)],axis=0)
for v in (12,13): case('ArgMax',v,[np.round(x4)],axis=3,select_last_index=1); case('ArgMin',v,[np.round(x4)],axis=-1,select_last_index=1,keepdims=0)
for e,r in ((0,0),(1,0),(0,1),(1,1)): case('CumSum',11,[x3,I(1)[0]],{1:1},exclusive=e,reverse=r); case('CumSum',14,[x3,I(-1)],{1:1},exclusive=e,reverse=r)
for eq,a in (('ij,jk->ik',(R(2,3),R(3,4))),('...ii->...i',(R(2,3,3),)),('bij,bjk',(R(2,3,4),R(2,4,5))),('i,j->ij',(R(3),R(4))),('...ij,...jk->...ik',(R(2,3,4),R(4,5))),('ij->',(R(3,4),))): case('Einsum',12,list(a),equation=eq)
ia,ib=np.array([-7,7,-8,5,6],np.int64),np.array([3,-3,3,2,-4],np.int64)
case('Mod',10,[ia,ib]); case('Mod',13,[ia,ib],fmod=1); case('Mod',13,[R(5)*9,R(5)],fmod=1); case('Mod',10,[ia.astype(np.int8),ib.astype(np.int8)])
case('Div',7,[ia,ib]); case('Div',14,[ia.astype(np.int32),ib.astype(np.int32)]); case('Pow',7,[np.abs(R(5)),R(5)]); case('Pow',12,[np.array([1,2,3],np.float32),I(2,3,1)]); case('Pow',13,[I(2,-3,4),np.array([2,3,.5],np.float32)]); case('Pow',15,[np.array([2,3],np.int32),np.array([3,2],np.int32)])
for v in (7,11,13): case('DepthToSpace',v,[R(1,8,2,3)],blocksize=2); case('SpaceToDepth',v,[R(1,2,4,6)],blocksize=2)
case('DepthToSpace',11,[R(1,8,2,3)],blocksize=2,mode='CRD')
for v in (8,13): case('Expand',v,[R(3,1),I(2,1,4)],{1:1}); case('Expand',v,[R(3,1),I(1)],{1:1})
for v in (7,13,14): case('Reshape',v,[x4,I(0,-1,6)],{1:1})
case('Reshape',14,[R(0,3),I(3,0)],{1:1},allowzero=1); case('Flatten',7,[x4],axis=0); case('Flatten',11,[x4],axis=-1); case('Flatten',13,[x4]); case('Flatten',9,[x4],axis=4)
case('Shape',15,[x4],start=1,end=-1); case('Shape',15,[x4],start=-2); case('Shape',13,[x4]); case('Size',13,[x4])
case('Tile',7,[x3,I(1,2,3)],{1:1}); case('Concat',7,[x3,x3],axis=1); case('Concat',11,[x3,x3],axis=-1); case('Transpose',7,[x3]); case('Trilu',14,[x3,I(-1)[0]],{1:1},upper=0); case('Trilu',14,[x3,I(2)[0]],{1:1})
for v in (11,13): case('GatherElements',v,[R(3,3),np.array([[1,-1,0],[2,0,-3]],np.int64)],axis=0); case('ScatterElements',v,[R(3,3),np.array([[1,0,2],[0,2,1]],np.int64),R(2,3)],axis=0); case('Gather',v,[R(5,4),np.array([[0,-1],[2,1]],np.int64)],axis=1); case('GatherND',v,[R(2,3,4),np.array([[0,1],[1,-1]],np.int64)]); case('ScatterND',v,[R(4,3),np.array([[0],[2]],np.int64),R(2,3)])
case('GatherND',12,[R(2,3,4),np.array([[[1]],[[0]]],np.int64)],batch_dims=1); case('Scatter',9,[R(3,3),np.array([[1,0,2],[0,2,1]],np.int64),R(2,3)],axis=1)
for rd in ('add','mul'): case('ScatterElements',16,[R(3,3),np.array([[1,1,1],[0,2,1]],np.int64),R(2,3)],axis=0,reduction=rd); case('ScatterND',16,[R(4,3),np.array([[0],[0]],np.int64),R(2,3)],reduction=rd)
for rd in ('max','min'): case('ScatterElements',18,[R(3,3),np.array([[1,1,1],[0,2,1]],np.int64),R(2,3)],axis=0,reduction=rd); case('ScatterND',18,[R(4,3),np.array([[0],[0]],np.int64),R(2,3)],reduction=rd)
case('IsInf',10,[np.array([1,np.inf,-np.inf,np.nan],np.float32)],detect_negative=0); case('IsInf',20,[np.array([1,np.inf,-np.inf,np.nan],np.float32)],detect_positive=0)
for ly in (0,1):
  for d in ('forward','reverse','bidirectional'):
    D=2 if d=='bidirectional' else 1; hs=4; X=R(5,2,3) if not ly else R(2,5,3); h0=R(D,2,hs) if not ly else R(2,D,hs); sl=np.array([5,3],np.int32)
    v=14 if ly else 7
    kw=dict(hidden_size=hs,direction=d); kw.update(layout=1) if ly else None
    if ly: continue
    case('LSTM',v,[X,R(D,16,3),R(D,16,4),R(D,32),sl,h0,R(D,2,hs),R(D,12)],{1:1,2:1,3:1,4:1,7:1},nout=3,**kw)
    case('LSTM',v,[X,R(D,16,3),R(D,16,4)],{1:1,2:1},nout=3,**kw); case('LSTM',14,[X,R(D,16,3),R(D,16,4),R(D,32),None,h0,R(D,2,hs)],{1:1,2:1,3:1},nout=3,clip=.5,**kw)
    for lbr in (0,1): case('GRU',v,[X,R(D,12,3),R(D,12,4),R(D,24),None,h0],{1:1,2:1,3:1},nout=2,linear_before_reset=lbr,**kw); case('GRU',14,[X,R(D,12,3),R(D,12,4),R(D,24),sl,h0],{1:1,2:1,3:1,4:1},nout=2,linear_before_reset=lbr,**kw)
    case('RNN',v,[X,R(D,4,3),R(D,4,4),R(D,8),sl,h0],{1:1,2:1,3:1,4:1},nout=2,**kw); case('RNN',14,[X,R(D,4,3),R(D,4,4),R(D,8)],{1:1,2:1,3:1},nout=2,activations=['Relu']*D,**kw)
gr=R(2,3,4,2)*.6
for md in ('bilinear','nearest','bicubic'):
    for pm in ('zeros','border','reflection'):
        for al in (0,1): case('GridSample',16,[x4,gr],mode=md,padding_mode=pm,align_corners=al)
for md in ('linear','nearest','cubic'): case('GridSample',20,[x4,gr],mode=md)
for ax in (-1,1): case('LayerNormalization',17,[x3,R(*x3.shape[ax:]),R(*x3.shape[ax:])],{1:1,2:1},nout=3,axis=ax)
case('MeanVarianceNormalization',9,[x4]); case('MeanVarianceNormalization',13,[x4],axes=[0,2,3]); case('LpNormalization',7,[x3],p=1,axis=1); case('LpPool',11,[p1],kernel_shape=[2,2],p=3,strides=[2,2]); case('LpPool',18,[p1],kernel_shape=[3,2],p=2,pads=[1,0,1,1],ceil_mode=0); case('GlobalLpPool',7,[p1],p=3)
case('Conv',7,[p1,R(4,2,3,3),R(4)],{1:1,2:1},auto_pad='SAME_UPPER',strides=[2,2]); case('Conv',11,[p1,R(4,1,3,3)],{1:1},group=2,pads=[0,1,2,1],dilations=[2,1]); case('Conv',11,[R(1,2,7),R(4,2,3)],{1:1}); case('Conv',11,[p1,R(4,2,2,2)],{1:1},auto_pad='SAME_LOWER')
for to in (T.INT32,T.INT64,T.BOOL,T.DOUBLE,T.FLOAT16,T.UINT8): case('Cast',13,[np.array([0,1.7,-0.5,100.2,3],np.float32)],to=to)
for v in (10,13,19,21): case('QuantizeLinear',v,[R(2,3,4),np.float32(.02),np.uint8(120)],{1:1,2:1}); case('DequantizeLinear',v,[rng.integers(0,255,(2,3,4)).astype(np.uint8),np.float32(.02),np.uint8(120)],{1:1,2:1})
for v in (13,21): case('QuantizeLinear',v,[R(2,3,4),np.abs(R(3))*.01+.01,np.array([1,-2,3],np.int8)],{1:1,2:1},axis=1); case('DequantizeLinear',v,[rng.integers(-99,99,(2,3,4)).astype(np.int32),np.abs(R(4)),],{1:1},axis=-1)
case('Range',11,[np.float32(1),np.float32(5.5),np.float32(.75)],{0:1,1:1,2:1}); case('Range',11,[I(10)[0],I(-3)[0],I(-4)[0]],{0:1,1:1,2:1}); case('EyeLike',9,[R(3,4)],k=-1); case('ConstantOfShape',9,[I(2,3)],{0:1},value=H.from_array(np.array([7],np.int32)))
case('Compress',9,[R(4,3),np.array([True,False,True])],{1:1},axis=0); case('Compress',11,[R(4,3),np.array([True,False,True,True,True])],{1:1}); case('NonZero',13,[np.round(R(3,4))]) ; case('Where',9,[np.array([True,False,True]),R(2,3),R(3)])
case('RoiAlign',10,[R(2,3,8,8),np.array([[0,0,6,6],[1,2,7.5,5],[-1,-1,3,9]],np.float32),I(0,1,1)],output_height=2,output_width=3,sampling_ratio=2,spatial_scale=.8); case('RoiAlign',16,[R(2,3,8,8),np.array([[0,0,6,6],[1,2,7.5,5],[-1,-1,3,9]],np.float32),I(0,1,1)],output_height=2,output_width=3,sampling_ratio=3); case('RoiAlign',16,[R(2,3,8,8),np.array([[0,0,6,6],[1,2,7.5,5]],np.float32),I(0,1)],output_height=2,output_width=2,sampling_ratio=2,mode='max',coordinate_transformation_mode='output_half_pixel')
case('DeformConv',19,[R(2,4,6,7),R(6,2,3,3),R(2,18,3,4)*.7,R(6),np.abs(R(2,9,3,4))],{1:1,3:1},group=2,strides=[2,2],pads=[1,1,1,1]); case('DeformConv',22,[R(1,4,6,7),R(2,4,2,3),R(1,24,5,5)*.7],{1:1},offset_group=2)
case('DFT',17,[R(1,8,1)],axis=1); case('DFT',17,[R(2,8,2)],axis=1,inverse=1); case('DFT',20,[R(1,8,1),None,I(1)[0]],{2:1},onesided=1); case('STFT',17,[R(1,16,1),I(4)[0],np.hanning(8).astype(np.float32),I(8)[0]],{1:1,2:1,3:1})
for bits in (np.uint8,np.uint32): case('BitShift',11,[np.array([1,2,200],bits),np.array([1,3,2],bits)],direction='LEFT'); case('BitShift',11,[np.array([1,20,200],bits),np.array([1,3,2],bits)],direction='RIGHT')
case('ReverseSequence',10,[R(4,3),I(4,2,1)],{1:1},time_axis=0,batch_axis=1); case('PRelu',7,[x3,R(3,1)],{1:1}); case('PRelu',9,[x3,R(4)],{1:1}); case('Sum',8,[x3,R(4),R(3,1)]); case('Max',7,[x3,x3+1]); case('Max',12,[ia,ib]); case('Min',13,[x3,R(4)]); case('Mean',8,[x3,R(4)])
case('Celu',12,[x3],alpha=2.); case('Selu',7,[x3],alpha=1.5,gamma=1.2); case('ThresholdedRelu',10,[x3],alpha=.7); case('Shrink',9,[x3],lambd=.6,bias=.3); case('HardSigmoid',7,[x3],alpha=.3,beta=.4); case('HardSwish',14,[x3]); case('Mish',18,[x3]); case('Gelu',20,[x3],approximate='tanh'); case('Gelu',20,[x3]); case('Softplus',7,[x3*20]); case('Round',11,[np.array([.5,1.5,-2.5,2.4],np.float32)]); case('Sign',13,[ia]); case('Abs',13,[ia]); case('Neg',13,[ia]); case('Det',11,[R(2,3,3)]); case('Hardmax',13,[np.round(x3)])
case('Attention',23,[R(1,2,3,4),R(1,2,5,4),R(1,2,5,4)]); case('RMSNormalization',23,[x3,R(4)],{1:1}); case('RotaryEmbedding',23,[R(1,2,3,4),R(3,2),R(3,2),None],name='rotary')


# quantized units
# as many samples as a region's cells are wide
roi = np.float32([[0, 1, 7, 8], [2, 0, 15, 9], [3, 3, 4, 15], [1, 2, 30, 28]])
for v, mode, how, scale in ((10, 'avg', {}, .5), (16, 'avg', {}, .5), (16, 'max', {}, 1.), (16, 'avg', {'coordinate_transformation_mode': 'output_half_pixel'}, .25)):
    case('RoiAlign', v, [R(2, 3, 16, 18), roi, I(0, 1, 1, 0)], output_height=3, output_width=2, sampling_ratio=0, spatial_scale=scale, mode=mode, **how)


def model(name,op,shapes,dtype,attrs={},consts={},out_scale=.02,out_zero=3,opset=17,outshape=None,extra=()):
    nd=np.int8 if dtype=='i8' else np.uint8; z0=0 if dtype=='i8' else 128
    nodes=[];init=[];ins=[];args=[]
    for k,s in enumerate(shapes):
        sc=np.float32(.013+.007*k); zp=nd(z0-5+9*k)
        init+= [H.from_array(sc,f's{k}'),H.from_array(np.array(zp),f'z{k}')]
        if k in consts:
            c=consts[k]
            init.append(H.from_array(c,f'c{k}')); args.append(f'c{k}') if c.dtype==np.float32 else None
            if c.dtype!=np.float32:
                nodes.append(h.make_node('DequantizeLinear',[f'c{k}',f's{k}',f'zw{k}'],[f'd{k}'],axis=0)); init.append(H.from_array(np.array(0,c.dtype),f'zw{k}')); args.append(f'd{k}')
            continue
        ins.append(h.make_tensor_value_info(f'x{k}',T.FLOAT,s))
        nodes+= [h.make_node('QuantizeLinear',[f'x{k}',f's{k}',f'z{k}'],[f'q{k}']),h.make_node('DequantizeLinear',[f'q{k}',f's{k}',f'z{k}'],[f'd{k}'])]
        args.append(f'd{k}')
    init+= [H.from_array(np.float32(out_scale),'sy'),H.from_array(np.array(z0+out_zero if not isinstance(out_zero,str) else int(out_zero),nd),'zy')]
    nodes+= [h.make_node(op,args+list(extra),['y0'],**attrs),h.make_node('QuantizeLinear',['y0','sy','zy'],['yq']),h.make_node('DequantizeLinear',['yq','sy','zy'],['y'])]
    init+= [H.from_array(np.array(v),k) for k,v in EX.items()] if extra else []
    g=h.make_graph(nodes,name,ins,[h.make_tensor_value_info('y',T.FLOAT,None)],init)
    m=h.make_model(g,opset_imports=[h.make_opsetid('',opset)]); m.ir_version=8
    emit(name,m,[(rng.random(s)*4-2).astype(np.float32) for k,s in enumerate(shapes) if k not in consts])
EX={}
for d in ('i8','u8'):
    w=rng.integers(-127,128,(8,4,3,3)).astype(np.int8); b=(rng.random(8)-.5).astype(np.float32)
    model(f'qdq_conv_{d}','Conv',[(1,4,9,9),w.shape,b.shape],d,{'pads':[1,1,1,1]},{1:w,2:b},.11)
    w=rng.integers(-127,128,(12,10)).astype(np.int8)
    model(f'qdq_matmul_{d}','MatMul',[(3,12),w.shape],d,{},{1:w},.09)
    model(f'qdq_matmul_two_{d}','MatMul',[(2,3,12),(2,12,7)],d,{},{},.09)
    model(f'qdq_add_{d}','Add',[(2,3,40),(2,3,40)],d,{},{},.031)
    model(f'qdq_add_spread_{d}','Add',[(2,3,1),(2,3,40)],d,{},{},.031)
    model(f'qdq_mul_{d}','Mul',[(2,3,40),(2,3,40)],d,{},{},.031)
    model(f'qdq_softmax_{d}','Softmax',[(4,30)],d,{'axis':-1},{},1/256,'-128' if d=='i8' else '0')
    model(f'qdq_softmax_255_{d}','Softmax',[(4,5,6)],d,{'axis':1},{},1/255,'-128' if d=='i8' else '0')
    model(f'qdq_global_average_pool_{d}','GlobalAveragePool',[(1,6,7,5)],d,{},{},.011)
    model(f'qdq_average_pool_{d}','AveragePool',[(1,6,8,8)],d,{'kernel_shape':[3,2],'strides':[2,1]},{},.013)
    model(f'qdq_sigmoid_{d}','Sigmoid',[(4,30)],d,{},{},1/256,'-128' if d=='i8' else '0')
EX={'roi':np.zeros(0,np.float32),'sc':np.array([1,1,2,2],np.float32)}
model('qdq_resize_i8','Resize',[(1,3,6,7)],'i8',{'mode':'linear'},{},.013,-5,extra=('roi','sc'))

# loops
body=h.make_graph([h.make_node('Mul',['v','f'],['v2']),h.make_node('ReduceSum',['v2'],['s'],keepdims=0),h.make_node('Less',['s','lim'],['c2'])],'b',
 [V('i',T.INT64,[]),V('c',T.BOOL,[]),V('v',T.FLOAT,[3])],[V('c2',T.BOOL,[]),V('v2',T.FLOAT,[3])])
g=h.make_graph([h.make_node('Loop',['','go','x'],['y'],body=body)],'g',[V('x',T.FLOAT,[3]),V('f',T.FLOAT,[])],[V('y',T.FLOAT,[3])],[H.from_array(np.array(True),'go'),H.from_array(np.float32(100),'lim')])
m=h.make_model(g,opset_imports=[h.make_opsetid('',17)])
emit('loop_until_data_says',m,[np.array([1,2,3],np.float32),np.float32(1.7)])
g=h.make_graph([h.make_node('Loop',['n','','x'],['y'],body=h.make_graph([h.make_node('Add',['v','f'],['v2']),h.make_node('Identity',['c'],['c2'])],'b',
 [V('i',T.INT64,[]),V('c',T.BOOL,[]),V('v',T.FLOAT,[3])],[V('c2',T.BOOL,[]),V('v2',T.FLOAT,[3])]))],'g',[V('n',T.INT64,[]),V('x',T.FLOAT,[3]),V('f',T.FLOAT,[])],[V('y',T.FLOAT,[3])])
emit('loop_as_often_as_data_says',h.make_model(g,opset_imports=[h.make_opsetid('',17)]),[np.array(5,np.int64),np.array([1,2,3],np.float32),np.float32(1.7)])
# kept: rounds count, nested If inside
body=h.make_graph([h.make_node('Greater',['v0','three'],['big']),h.make_node('If',['big'],['v2'],then_branch=h.make_graph([h.make_node('Sub',['v','f'],['t'])],'t',[],[V('t',T.FLOAT,[3])]),else_branch=h.make_graph([h.make_node('Add',['v','f'],['e'])],'e',[],[V('e',T.FLOAT,[3])])),
 h.make_node('ReduceMax',['v2'],['v02'],keepdims=0),h.make_node('Identity',['c'],['c2'])],'b',[V('i',T.INT64,[]),V('c',T.BOOL,[]),V('v',T.FLOAT,[3]),V('v0',T.FLOAT,[])],[V('c2',T.BOOL,[]),V('v2',T.FLOAT,[3]),V('v02',T.FLOAT,[])])
g=h.make_graph([h.make_node('Loop',['n','','x','z'],['y','w'],body=body)],'g',[V('n',T.INT64,[1]),V('x',T.FLOAT,[3]),V('f',T.FLOAT,[]),V('z',T.FLOAT,[])],[V('y',T.FLOAT,[3]),V('w',T.FLOAT,[])],[H.from_array(np.float32(3),'three')])
emit('loop_with_if_inside',h.make_model(g,opset_imports=[h.make_opsetid('',17)]),[np.array([7],np.int64),np.array([1,2,3],np.float32),np.float32(.7),np.float32(0)])

# LSTMs as onnxruntime's own quantizer writes them: codes of the input and of the state are made when it runs; one sequence (of several it makes them one by one, by its threads)
for k, (dirs, steps, width, hid, unsigned, channels) in enumerate(((1, 5, 6, 8, False, False), (2, 12, 32, 24, True, False), (1, 7, 16, 24, False, True))):
    draw, codes = np.random.default_rng(40 + k), np.uint8 if unsigned else np.int8
    low, init, side = (0, 256) if unsigned else (-128, 128), [], (dirs, 4 * hid) if channels else (dirs,)
    for name, deep in (("W", width), ("R", hid)):
        init += [H.from_array(draw.integers(*low, (dirs, deep, 4 * hid)).astype(codes), name), H.from_array((draw.random(side) * .004 + .002).astype(np.float32), name + "_scale"),
                 H.from_array((draw.integers(100, 140, side) if unsigned and not channels else np.zeros(side)).astype(codes), name + "_zero")]
    init.append(H.from_array((draw.standard_normal((dirs, 8 * hid)) * .1).astype(np.float32), "B"))
    node = h.make_node("DynamicQuantizeLSTM", ["x", "W", "R", "B", "", "", "", "", "W_scale", "W_zero", "R_scale", "R_zero"], ["y", "yh", "yc"], domain="com.microsoft", hidden_size=hid,
                       direction="bidirectional" if dirs == 2 else "forward")
    g = h.make_graph([node], "g", [V("x", T.FLOAT, [steps, 1, width])], [V("y", T.FLOAT, [steps, dirs, 1, hid]), V("yh", T.FLOAT, [dirs, 1, hid]), V("yc", T.FLOAT, [dirs, 1, hid])], init)
    emit(f"dynamic_lstm_{k}", h.make_model(g, opset_imports=[h.make_opsetid("", 17), h.make_opsetid("com.microsoft", 1)]), [draw.standard_normal((steps, 1, width)).astype(np.float32)], "1e-5 1e-6")

with open(O + "/cases.txt", "a") as f:
    f.write("\n".join(lines) + "\n")
print(len(lines), "cases")
